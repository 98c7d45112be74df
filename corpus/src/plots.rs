//! Plots of a measurement, as SVG.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use plotters::coord::Shift;
use plotters::prelude::*;

use crate::journal::Results;
use crate::measure::Rank;
use crate::question::{Question, Technique};
use crate::row::{Row, Searched};
use crate::table::questions;

const SIZE: (u32, u32) = (900, 560);
const FONT: &str = "sans-serif";
const MARGIN: u32 = 20;
/// Ranks beyond are as bad as a miss to somebody who reads.
const MOST_READ: usize = 100;
/// Colours that are told apart by most eyes.
const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(90, 90, 90),
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
        let axes = ("instructions of the failing run", "instructions of all trials");
        with_area(&cost, |area| {
            scatter(&explained, axes, |row, search| (row.length, search.instructions), area)
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

/// What share of the faults is among the first statements that are read.
fn draw_ranks(rows: &[&Row], area: &Area<'_>) -> Result<()> {
    let mut chart = ChartBuilder::on(area)
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
    let styles = COLOURS.iter().cycle().enumerate();
    for (question, (number, colour)) in questions(rows).into_iter().zip(styles) {
        // More lines than colours: the further ones are thin.
        let width = if number < COLOURS.len() { 3 } else { 1 };
        let ranks: Vec<Option<Rank>> =
            rows.iter().filter(|row| row.question == question).map(|row| row.strict).collect();
        let style = colour.stroke_width(width);
        chart
            .draw_series(LineSeries::new(steps(&ranks), style))
            .map_err(failed)?
            .label(name(question))
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], style));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::LowerRight)
        .background_style(WHITE.mix(0.85))
        .border_style(BLACK.mix(0.3))
        .label_font((FONT, 14))
        .draw()
        .map_err(failed)
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
    let mut chart = ChartBuilder::on(area)
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
    for (question, colour) in questions(rows).into_iter().zip(COLOURS.iter().cycle()) {
        let own = points.iter().filter(|point| point.0 == question);
        let dots = own.map(|(_, x, y)| Circle::new((*x, *y), 3, colour.mix(0.6).filled()));
        chart
            .draw_series(dots)
            .map_err(failed)?
            .label(name(question))
            .legend(move |(x, y)| Circle::new((x + 9, y), 4, colour.filled()));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .background_style(WHITE.mix(0.85))
        .border_style(BLACK.mix(0.3))
        .label_font((FONT, 14))
        .draw()
        .map_err(failed)
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
