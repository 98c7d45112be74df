//! Plots of a measurement, as SVG.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use plotters::coord::Shift;
use plotters::element::DashedPathElement;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::journal::Results;
use crate::measure::Rank;
use crate::question::{Question, Technique, With};
use crate::row::{Row, Searched};
use crate::table::questions;

const SIZE: (u32, u32) = (900, 560);
const FONT: &str = "sans-serif";
const MARGIN: u32 = 20;
/// Ranks beyond are as bad as a miss to somebody who reads.
const MOST_READ: usize = 100;
/// Where the names of the lines stand, beside the plot: in it they would hide some.
const LEGEND_WIDTH: u32 = 190;
const LEGEND_LINE: i32 = 24;
/// Colours that are told apart by most eyes: one for each technique.
const COLOURS: [RGBColor; 8] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(90, 90, 90),
    RGBColor(0, 0, 0),
];

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Draws what there is to draw; tells the files.
pub fn draw(results: &Results, directory: &Path) -> Result<Vec<PathBuf>> {
    let rows: Vec<&Row> = results.rows.iter().collect();
    std::fs::create_dir_all(directory).with_context(|| format!("{} cannot be made", directory.display()))?;
    let ranks = directory.join("ranks.svg");
    with_area(&ranks, |area| draw_ranks(&rows, area))?;
    let mut files = vec![ranks];
    let explained: Vec<&Row> = rows
        .into_iter()
        .filter(|row| row.question.technique == Technique::Explain)
        .filter(|row| row.search.is_some_and(|search| search.trials > 0))
        .collect();
    if !explained.is_empty() {
        let (cost, trials) = (directory.join("cost.svg"), directory.join("trials.svg"));
        let loader = results.header.as_ref().map_or(0, |header| header.loader);
        let axes = (
            "instructions of the failing run, without those of an empty program",
            "instructions of all trials",
        );
        with_area(&cost, |area| {
            let own = |row: &Row| row.length.saturating_sub(loader);
            scatter(&explained, axes, |row, search| (own(row), search.instructions), area)
        })?;
        let axes = ("decisions of the failing run", "trials");
        with_area(&trials, |area| {
            scatter(&explained, axes, |_, search| (search.conditions, search.trials), area)
        })?;
        files.extend([cost, trials]);
    }
    Ok(files)
}

fn with_area(path: &Path, draw: impl FnOnce(&Area<'_>) -> Result<()>) -> Result<()> {
    let area = SVGBackend::new(path, SIZE).into_drawing_area();
    area.fill(&WHITE).map_err(failed)?;
    draw(&area)?;
    area.present().map_err(failed)
}

/// The library's errors borrow what they speak of.
fn failed(error: impl std::fmt::Display) -> anyhow::Error {
    anyhow!("a plot cannot be drawn: {error}")
}

fn name(question: Question) -> String {
    format!("{} ({})", question.technique.name(), question.with.name())
}

/// The colour tells the technique.
fn colour(technique: Technique) -> RGBColor {
    match technique {
        Technique::Explain => COLOURS[0],
        Technique::Switching => COLOURS[1],
        Technique::FullSlice => COLOURS[2],
        Technique::RelevantSlice => COLOURS[3],
        Technique::Random => COLOURS[6],
        Technique::Ochiai => COLOURS[4],
        Technique::Tarantula => COLOURS[5],
        Technique::Dstar => COLOURS[7],
    }
}

/// The line tells the help: the lengths of its dashes and gaps.
fn dashes(with: With) -> (u32, u32) {
    match with {
        // Longer than the picture.
        With::Alone => (4000, 1),
        With::Passing => (9, 4),
        With::Reference => (2, 4),
    }
}

/// The plot's part of a picture, and that for the names of lines.
fn beside_legend<'a>(area: &Area<'a>) -> (Area<'a>, Area<'a>) {
    area.split_horizontally(SIZE.0 - LEGEND_WIDTH)
}

/// The name of each question, with a sample of how it is drawn.
fn draw_legend(
    asked: &BTreeSet<Question>,
    area: &Area<'_>,
    sample: impl Fn(Question, (i32, i32)) -> Result<()>,
) -> Result<()> {
    for (question, number) in asked.iter().zip(0..) {
        let middle = i32::try_from(MARGIN).unwrap_or(0) + LEGEND_LINE / 2 + number * LEGEND_LINE;
        sample(*question, (0, middle))?;
        let style = TextStyle::from((FONT, 14).into_font()).pos(Pos::new(HPos::Left, VPos::Center));
        area.draw_text(&name(*question), &style, (32, middle)).map_err(failed)?;
    }
    Ok(())
}

/// What share of the faults is among the first statements that are read.
fn draw_ranks(rows: &[&Row], area: &Area<'_>) -> Result<()> {
    let (plot, legend) = beside_legend(area);
    let mut chart = ChartBuilder::on(&plot)
        .margin(MARGIN)
        .x_label_area_size(45)
        .y_label_area_size(60)
        .build_cartesian_2d((1.0..MOST_READ as f64).log_scale(), 0.0..100.0)
        .map_err(failed)?;
    chart
        .configure_mesh()
        .x_desc("statements read")
        .y_desc("faults found, %")
        .x_label_formatter(&|value| format!("{value:.0}"))
        .y_label_formatter(&|value| format!("{value:.0}"))
        .label_style((FONT, 15))
        .light_line_style(WHITE)
        .draw()
        .map_err(failed)?;
    let asked = questions(rows);
    for question in &asked {
        let ranks: Vec<Option<Rank>> =
            rows.iter().filter(|row| row.question == *question).map(|row| row.strict).collect();
        let (dash, gap) = dashes(question.with);
        let style = colour(question.technique).stroke_width(2);
        chart.draw_series(DashedLineSeries::new(steps(&ranks), dash, gap, style)).map_err(failed)?;
    }
    draw_legend(&asked, &legend, |question, (x, y)| {
        let (dash, gap) = dashes(question.with);
        let line = DashedPathElement::new(
            [(x, y), (x + 26, y)],
            dash,
            gap,
            colour(question.technique).stroke_width(2),
        );
        legend.draw(&line).map_err(failed)
    })
}

/// The share within each rank, as stairs.
fn steps(ranks: &[Option<Rank>]) -> Vec<(f64, f64)> {
    let share = |most: usize| {
        let within: f64 = ranks.iter().flatten().map(|rank| rank.within(most)).sum();
        within * 100.0 / ranks.len().max(1) as f64
    };
    (1..=MOST_READ)
        .flat_map(|rank| [(rank as f64, share(rank)), ((rank + 1).min(MOST_READ) as f64, share(rank))])
        .collect()
}

/// One figure against another, both on logarithmic scales, a dot for each case.
fn scatter(
    rows: &[&Row],
    (x_axis, y_axis): (&str, &str),
    figures: impl Fn(&Row, Searched) -> (u64, u64),
    area: &Area<'_>,
) -> Result<()> {
    let points: Vec<(Question, f64, f64)> = rows
        .iter()
        .filter_map(|row| {
            let (x, y) = figures(row, row.search?);
            Some((row.question, x.max(1) as f64, y.max(1) as f64))
        })
        .collect();
    let range = |of: fn(&(Question, f64, f64)) -> f64| {
        let least = points.iter().map(of).fold(f64::INFINITY, f64::min);
        let most = points.iter().map(of).fold(1.0, f64::max);
        least / 1.5..most * 1.5
    };
    let (plot, legend) = beside_legend(area);
    let mut chart = ChartBuilder::on(&plot)
        .margin(MARGIN)
        .x_label_area_size(45)
        .y_label_area_size(80)
        .build_cartesian_2d(range(|point| point.1).log_scale(), range(|point| point.2).log_scale())
        .map_err(failed)?;
    chart
        .configure_mesh()
        .x_desc(x_axis)
        .y_desc(y_axis)
        .x_label_formatter(&|value| rounded(*value))
        .y_label_formatter(&|value| rounded(*value))
        .label_style((FONT, 15))
        .light_line_style(WHITE)
        .draw()
        .map_err(failed)?;
    let asked = questions(rows);
    let hues: BTreeMap<Question, RGBColor> = asked.iter().copied().zip(COLOURS).collect();
    let hue = |question: Question| hues.get(&question).copied().unwrap_or(BLACK);
    let dots =
        points.iter().map(|(question, x, y)| Circle::new((*x, *y), 3, hue(*question).mix(0.6).filled()));
    chart.draw_series(dots).map_err(failed)?;
    draw_legend(&asked, &legend, |question, (x, y)| {
        legend.draw(&Circle::new((x + 16, y), 4, hue(question).filled())).map_err(failed)
    })
}

/// A number in few letters: 20 k, 1.5 M.
fn rounded(value: f64) -> String {
    let (scaled, unit) = match value {
        value if value >= 1e9 => (value / 1e9, " G"),
        value if value >= 1e6 => (value / 1e6, " M"),
        value if value >= 1e3 => (value / 1e3, " k"),
        value => (value, ""),
    };
    let text = format!("{scaled:.1}");
    format!("{}{unit}", text.strip_suffix(".0").unwrap_or(&text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stairs_rise_at_the_ranks_and_misses_keep_them_below_the_top() {
        let steps = steps(&[Some(1), Some(3), None, Some(3)].map(|rank| rank.map(Rank::exactly)));
        let at = |rank: f64| steps.iter().filter(|(x, _)| *x == rank).map(|(_, y)| *y).fold(0.0, f64::max);
        assert_eq!((at(1.0), at(2.0), at(3.0), at(100.0)), (25.0, 25.0, 75.0, 75.0));
    }

    #[test]
    fn three_plots_are_drawn_of_what_was_searched_for() {
        let place = tempfile::tempdir().unwrap();
        let results = Results { rows: vec![crate::row::tests::row(&[12], false)], ..Results::default() };
        let files = draw(&results, place.path()).unwrap();
        assert_eq!(files.len(), 3);
        for file in files {
            let text = std::fs::read_to_string(&file).unwrap();
            assert!(text.contains("explain (alone)"), "{}", file.display());
        }
    }

    #[test]
    fn numbers_are_short() {
        let texts = [1.0, 950.0, 1500.0, 2e6, 1.25e9].map(rounded);
        assert_eq!(texts, ["1", "950", "1.5 k", "2 M", "1.2 G"]);
    }
}
