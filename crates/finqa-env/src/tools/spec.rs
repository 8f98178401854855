//! The tools' names, descriptions and argument schemas.

use serde_json::{Map, Value, json};

use super::ToolFailure;
use crate::python;

/// The tool that ends an episode.
pub const SUBMIT_ANSWER: &str = "submit_answer";

/// An argument of a tool. All are required strings.
#[derive(Debug)]
pub struct ToolParameter {
    pub name: &'static str,
    pub description: &'static str,
}

/// A tool as it is announced to agents.
#[derive(Debug)]
pub struct EnvTool {
    pub name: &'static str,
    pub description: &'static str,
    pub parameters: &'static [ToolParameter],
}

const COMPANY: ToolParameter = ToolParameter {
    name: "company_name",
    description: "The name of the company",
};
const TABLE: ToolParameter = ToolParameter {
    name: "table_name",
    description: "The name of the table",
};

static SPECS: [EnvTool; 4] = [
    EnvTool {
        name: "get_descriptions",
        description: "Get a list of available table names for a company.",
        parameters: &[COMPANY],
    },
    EnvTool {
        name: "get_table_info",
        description: "Get table metadata: description, columns, types, unique values.",
        parameters: &[COMPANY, TABLE],
    },
    EnvTool {
        name: "sql_query",
        description: "Execute a SQL query on a table. Select * not allowed.\n\n\
            Filters are required: WHERE, HAVING, IN, NOT IN, EXISTS, NOT EXISTS,\n\
            ANY, SOME, ALL, LIKE, NOT LIKE, BETWEEN, NOT BETWEEN, IS NULL,\n\
            IS NOT NULL, CASE, FILTER.",
        parameters: &[
            COMPANY,
            TABLE,
            ToolParameter {
                name: "query",
                description: "SQL query to execute (must include filters)",
            },
        ],
    },
    EnvTool {
        name: SUBMIT_ANSWER,
        description: "Submit a final answer for the question.",
        parameters: &[ToolParameter {
            name: "answer",
            description: "The final answer to submit",
        }],
    },
];

/// The four tools in the order in which they are announced.
#[must_use]
pub fn specs() -> &'static [EnvTool] {
    &SPECS
}

impl EnvTool {
    /// The JSON schema of its arguments.
    #[must_use]
    pub fn input_schema(&self) -> Value {
        let properties: Map<String, Value> = self
            .parameters
            .iter()
            .map(|p| {
                let schema = json!({"type": "string", "description": p.description});
                (p.name.to_owned(), schema)
            })
            .collect();
        let required: Vec<&str> = self.parameters.iter().map(|p| p.name).collect();
        json!({
            "additionalProperties": false,
            "properties": properties,
            "required": required,
            "type": "object",
        })
    }

    /// The arguments in the order of [`EnvTool::parameters`], or everything that is
    /// wrong with them, as OpenEnv's validator reports it.
    pub(super) fn read_arguments<'a>(
        &self,
        given: &'a Map<String, Value>,
    ) -> Result<Vec<&'a str>, ToolFailure> {
        let mut values = Vec::with_capacity(self.parameters.len());
        let mut faults = Vec::new();
        for parameter in self.parameters {
            match given.get(parameter.name) {
                Some(Value::String(text)) => values.push(text.as_str()),
                Some(other) => faults.push(fault(
                    parameter.name,
                    "Input should be a valid string",
                    "string_type",
                    &python::repr_json(other),
                    python::type_name(other),
                )),
                None => {
                    let all = python::repr_json(&Value::Object(given.clone()));
                    faults.push(fault(
                        parameter.name,
                        "Missing required argument",
                        "missing_argument",
                        &all,
                        "dict",
                    ));
                }
            }
        }
        for (name, value) in given {
            if !self.parameters.iter().any(|p| p.name == name) {
                faults.push(fault(
                    name,
                    "Unexpected keyword argument",
                    "unexpected_keyword_argument",
                    &python::repr_json(value),
                    python::type_name(value),
                ));
            }
        }
        if faults.is_empty() {
            return Ok(values);
        }
        let plural = if faults.len() == 1 { "" } else { "s" };
        let text = format!(
            "{} validation error{plural} for call[{}]{}",
            faults.len(),
            self.name,
            faults.concat()
        );
        Err(ToolFailure::from_text(text))
    }
}

/// One problem as pydantic 2.13 reports it; a long value is cut in the middle.
fn fault(name: &str, text: &str, kind: &str, value: &str, type_name: &str) -> String {
    const SHOWN: usize = 50;
    let length = value.chars().count();
    let value = if length > SHOWN {
        let head: String = value.chars().take(25).collect();
        let tail: String = value.chars().skip(length - 24).collect();
        format!("{head}...{tail}")
    } else {
        value.to_owned()
    };
    format!(
        "\n{name}\n  {text} [type={kind}, input_value={value}, input_type={type_name}]\n    \
         For further information visit https://errors.pydantic.dev/2.13/v/{kind}"
    )
}
