//! Why a run failed, as one page that needs nothing else: no network, no other file, no script to be read.

mod escape;
mod evidence;
mod marks;
mod output;
mod source;
mod story;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use escape::Html;
use marks::Marks;
use sha2::{Digest, Sha256};

use crate::explain::ExplainReport;
use crate::explain_text::CUT_SHORT;
use crate::page::Page;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("steps.js");
/// A longer title is of no use.
const LONGEST_TITLE: usize = 120;

impl ExplainReport {
    pub fn html(&self, page: &Page) -> String {
        let marks = Marks::new(self, page);
        let mut html = Html::default();
        head(&mut html, self);
        html.raw("<body>\n");
        headline(&mut html, self, page);
        html.raw("<main>\n<div class=\"story\">\n");
        story::failed_at(&mut html, self, &marks);
        match self.causes.first() {
            Some(cause) => {
                story::cause(&mut html, cause, self.is_certain, &marks);
                story::path(&mut html, cause, self, &marks);
            }
            None if self.comes_of_unset() => story::reading(&mut html, self.computed.iter(), &marks),
            None => story::nothing(&mut html, self, &marks),
        }
        html.raw("</div>\n");
        source::panels(&mut html, page, &marks);
        html.raw("<div class=\"more\">\n");
        if let Some((cause, others)) = self.causes.split_first() {
            story::value(&mut html, &self.value, &marks);
            story::compared(&mut html, cause, &marks);
            story::others(&mut html, others, self.left_out, &marks);
            story::beside(&mut html, &self.beside, &marks);
            let is_news = self.is_news(cause);
            story::reading(&mut html, cause.reading.iter().filter(&is_news), &marks);
            story::further(&mut html, self.further.iter().filter(&is_news), &marks);
        } else {
            story::beside(&mut html, &self.beside, &marks);
        }
        evidence::evidence(&mut html, self);
        html.raw("</div>\n</main>\n<footer>Told by whydunit ").text(env!("CARGO_PKG_VERSION"));
        html.raw(". The run is the same every time, and so is this page.</footer>\n<script>");
        html.raw(SCRIPT).raw("</script>\n</body>\n</html>\n");
        html.finish()
    }
}

fn head(html: &mut Html, report: &ExplainReport) {
    html.raw("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    html.raw("<meta http-equiv=\"Content-Security-Policy\" content=\"").attribute(&policy()).raw("\">\n");
    html.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    html.raw("<meta name=\"color-scheme\" content=\"light dark\">\n");
    html.raw("<meta name=\"referrer\" content=\"no-referrer\">\n<title>Why ");
    // A title has no elements, so what cannot be seen is written out as in an attribute.
    let title: String = report.command.chars().take(LONGEST_TITLE).collect();
    html.attribute(&title).raw(" failed</title>\n<style>").raw(STYLE).raw("</style>\n</head>\n");
}

/// Nothing is loaded, and no style or script runs but the two of the page itself, known by their hashes.
fn policy() -> String {
    let hash = |text: &str| STANDARD.encode(Sha256::digest(text));
    format!(
        "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; base-uri 'none'; form-action 'none'",
        hash(STYLE),
        hash(SCRIPT)
    )
}

fn headline(html: &mut Html, report: &ExplainReport, page: &Page) {
    html.raw("<header>\n<p class=\"label\">Failed</p>\n<h1><code>").text(&report.command).raw("</code> ");
    html.text(&report.failed).raw("</h1>\n");
    if report.is_cut_short {
        html.raw("<p class=\"notice\">").text(CUT_SHORT).raw("</p>\n");
    }
    if let Some(comparison) = &page.comparison {
        output::comparison(html, comparison);
    }
    for printed in &page.printed {
        output::printed(html, printed);
    }
    html.raw("</header>\n");
}
