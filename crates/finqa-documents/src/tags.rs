//! Reads inline XBRL: the tags of a filing that describe its figures.

use std::collections::HashMap;

use finqa_core::page::{TagKind, TagUnit};
use scraper::{ElementRef, Html};
use serde::Serialize;

/// The period of a tagged figure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TagPeriod {
    /// The first day, such as `2023-10-01`; `None` for a point in time.
    pub start: Option<String>,
    /// The last day, such as `2024-09-28`.
    pub end: String,
}

impl TagPeriod {
    pub(crate) fn in_words(&self) -> String {
        match &self.start {
            Some(start) => format!("{start} to {}", self.end),
            None => self.end.clone(),
        }
    }
}

/// A tag of inline XBRL, which describes a figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tag {
    /// The name of the element, such as `us-gaap:NetIncomeLoss`.
    pub concept: String,
    pub period: TagPeriod,
    /// The unit: `USD`, `shares`, `USD/shares`.
    pub unit: String,
    /// The power of ten by which the printed digits are multiplied.
    pub scale: i32,
    /// True if the value is the printed digits with a minus, which the page need not print.
    pub negative: bool,
    /// True if the tag's format says that a comma marks the decimals; `None` if it does not say.
    #[serde(skip)]
    pub comma: Option<bool>,
    /// The axes with their members, such as a segment; empty for the whole company.
    pub dimensions: Vec<(String, String)>,
}

impl Tag {
    /// The members of its dimensions, without their prefixes.
    pub(crate) fn members(&self) -> Vec<String> {
        let members = self.dimensions.iter().map(|(_, member)| member);
        let name = |member: &String| member.rsplit(':').next().unwrap_or(member).to_owned();
        members.map(name).collect()
    }

    /// The value of the printed figure in units. Sign and scale are those of the tag, even if
    /// the page prints others.
    pub(crate) fn value(&self, printed: f64) -> f64 {
        self.signed(printed) * 10_f64.powi(self.scale)
    }

    /// The unit that the tag states. A code of three letters is a currency.
    pub(crate) fn unit_of_figure(&self) -> TagUnit {
        let kind = match self.unit.as_str() {
            "pure" => TagKind::Pure,
            code if code.len() == 3 => TagKind::Money,
            _ => TagKind::Other,
        };
        TagUnit {
            power: self.scale,
            kind,
        }
    }

    /// The printed figure with the sign of the tag.
    pub(crate) fn signed(&self, printed: f64) -> f64 {
        let sign = if self.negative { -1.0 } else { 1.0 };
        sign * printed.abs()
    }
}

/// A context of XBRL: the period and the dimensions that tags refer to by its id.
#[derive(Debug, Default)]
struct Context {
    period: Option<TagPeriod>,
    dimensions: Vec<(String, String)>,
}

/// The contexts and units to which the tags of a filing refer.
#[derive(Debug, Default)]
pub(crate) struct Contexts {
    contexts: HashMap<String, Context>,
    units: HashMap<String, String>,
    /// The tagged facts of the cover, by the lower-case names of their tags.
    pub(crate) cover: HashMap<String, String>,
}

/// An element's name without its prefix, because filings choose the prefixes of XBRL themselves.
fn local(element: ElementRef<'_>) -> &str {
    let name = element.value().name();
    name.rsplit(':').next().unwrap_or(name)
}

fn text(element: ElementRef<'_>) -> String {
    element.text().collect::<String>().trim().to_owned()
}

impl Contexts {
    /// Collects contexts, units and cover facts from the whole filing. All are empty for a
    /// filing without tags.
    pub(crate) fn read(html: &Html) -> Self {
        let mut read = Self::default();
        for element in html.root_element().descendent_elements() {
            if let Some(name) = element
                .attr("name")
                .and_then(|name| name.strip_prefix("dei:"))
            {
                let name = name.to_lowercase();
                read.cover.entry(name).or_insert_with(|| text(element));
            }
            let Some(id) = element.attr("id") else {
                continue;
            };
            match local(element) {
                "context" => {
                    read.contexts.insert(id.to_owned(), context(element));
                }
                "unit" => {
                    let measures = element
                        .descendent_elements()
                        .filter(|inner| local(*inner) == "measure");
                    let names = measures
                        .map(text)
                        .map(|name| name.rsplit(':').next().unwrap_or(&name).to_owned());
                    read.units
                        .insert(id.to_owned(), names.collect::<Vec<_>>().join("/"));
                }
                _ => {}
            }
        }
        read
    }

    /// The tag of an `ix:nonFraction`. `None` for other elements, and if its context is
    /// missing.
    pub(crate) fn tag(&self, element: ElementRef<'_>) -> Option<Tag> {
        if element.value().name() != "ix:nonfraction" {
            return None;
        }
        let context = self.contexts.get(element.attr("contextref")?)?;
        let unit = self.units.get(element.attr("unitref")?);
        Some(Tag {
            concept: element.attr("name")?.to_owned(),
            period: context.period.clone()?,
            // An unknown unit is empty. In Inline XBRL, a figure without a scale is not scaled.
            unit: unit.cloned().unwrap_or_default(),
            scale: element
                .attr("scale")
                .and_then(|scale| scale.parse().ok())
                .unwrap_or(0),
            negative: element.attr("sign") == Some("-"),
            comma: element.attr("format").and_then(decimal_comma),
            dimensions: context.dimensions.clone(),
        })
    }
}

/// True if a tag's format says that a comma marks the decimals, false for a point; `None` if it
/// does not say. The names of the formats have changed over time: `num-comma-decimal`,
/// `numcommadecimal`, `numdotcomma`.
fn decimal_comma(format: &str) -> Option<bool> {
    let name = format.rsplit(':').next().unwrap_or(format).replace('-', "");
    let says = |mark: &str| name.ends_with(mark) || name.contains(&format!("{mark}decimal"));
    [(says("comma"), true), (says("dot"), false)]
        .into_iter()
        .find_map(|(says, comma)| says.then_some(comma))
}

/// Reads a context; its period is `None` without an end or an instant.
fn context(element: ElementRef<'_>) -> Context {
    let mut read = Context::default();
    let (mut start, mut end) = (None, None);
    for inner in element.descendent_elements() {
        match local(inner) {
            "startdate" => start = Some(text(inner)),
            "enddate" | "instant" => end = Some(text(inner)),
            "explicitmember" | "typedmember" => {
                let axis = inner.attr("dimension").unwrap_or_default().to_owned();
                read.dimensions.push((axis, text(inner)));
            }
            _ => {}
        }
    }
    read.period = end.map(|end| TagPeriod { start, end });
    read
}
