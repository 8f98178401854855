//! Loads and tests the templates, renders prompts from them, and hashes them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use minijinja::syntax::SyntaxConfig;
use minijinja::{AutoEscape, Environment, UndefinedBehavior, context};

use super::error::PromptError;
use super::view::{CriticView, Prompt, variables};
use finqa_core::files;
use finqa_core::number::Value;
use finqa_core::question::{
    Document, HistoryEntry, HistorySource, Question, QuestionKey, QuestionKind,
};

const EMBEDDED: [(&str, &str); 8] = [
    (
        "analyst_system.j2",
        include_str!("../../../../prompts/analyst_system.j2"),
    ),
    (
        "analyst_user.j2",
        include_str!("../../../../prompts/analyst_user.j2"),
    ),
    (
        "conventions.j2",
        include_str!("../../../../prompts/conventions.j2"),
    ),
    (
        "critic_system.j2",
        include_str!("../../../../prompts/critic_system.j2"),
    ),
    (
        "critic_user.j2",
        include_str!("../../../../prompts/critic_user.j2"),
    ),
    ("page.j2", include_str!("../../../../prompts/page.j2")),
    ("reask.j2", include_str!("../../../../prompts/reask.j2")),
    ("revise.j2", include_str!("../../../../prompts/revise.j2")),
];

/// The templates of the prompts: the embedded ones, and those that a folder replaces.
#[derive(Clone, Debug)]
pub struct Prompts {
    environment: Environment<'static>,
    sources: BTreeMap<String, String>,
    /// The folder whose files replace templates; errors name it.
    folder: Option<PathBuf>,
}

impl Prompts {
    /// The templates that are compiled into the program.
    pub fn embedded() -> Self {
        let mut prompts = Self {
            environment: environment(),
            sources: BTreeMap::new(),
            folder: None,
        };
        for (name, source) in EMBEDDED {
            // Adding a template cannot fail, because a test renders all of them. If it failed,
            // rendering would report that the template is missing.
            let _ = prompts.add(name, source.to_string());
        }
        prompts
    }

    /// Replaces each template for which `folder` has a file of the same name. Files whose names
    /// begin with `_` are added too, so that templates can include them.
    ///
    /// # Errors
    /// If the folder or a file cannot be read, a `.j2` file has an unknown name, or a template
    /// is malformed or uses an undefined variable.
    pub fn with_dir(self, folder: &Path) -> Result<Self, PromptError> {
        let read_error = |path: &Path| {
            let path = path.to_path_buf();
            |source| PromptError::Read { path, source }
        };
        let mut prompts = Self {
            folder: Some(folder.to_path_buf()),
            ..self
        };
        let mut paths = Vec::new();
        for entry in std::fs::read_dir(folder).map_err(read_error(folder))? {
            let path = entry.map_err(read_error(folder))?.path();
            if path.extension().is_some_and(|extension| extension == "j2") {
                paths.push(path);
            }
        }
        // Sort the files, so that if several have errors, the same error is reported every time.
        paths.sort();
        for path in paths {
            let name = path.file_name().unwrap_or_default();
            let name = name.to_string_lossy().into_owned();
            if !name.starts_with('_') && !prompts.sources.contains_key(&name) {
                let known: Vec<&str> = EMBEDDED.iter().map(|(name, _)| *name).collect();
                return Err(PromptError::Unknown {
                    path,
                    known: known.join(", "),
                });
            }
            let source = files::read_to_string(&path).map_err(read_error(&path))?;
            prompts.add(&name, source)?;
        }
        prompts.rehearse()?;
        Ok(prompts)
    }

    /// The blake3 hash of the names and contents of all templates, in hex. A run records it, and
    /// refuses to resume with different prompts.
    pub fn hash(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        for (name, source) in &self.sources {
            // Hash the lengths too, because otherwise `a` + `bc` and `ab` + `c` would have the same
            // hash.
            for part in [name, source] {
                hasher.update(&(part.len() as u64).to_le_bytes());
                hasher.update(part.as_bytes());
            }
        }
        hasher.finalize().to_hex().to_string()
    }

    /// The texts that are the same for every question, by file name: the templates, and the system
    /// prompts of both agents as they are sent.
    pub fn texts(&self) -> Result<BTreeMap<String, String>, PromptError> {
        let mut texts = self.sources.clone();
        for agent in ["analyst", "critic"] {
            let sent = self.render(&format!("{agent}_system.j2"), context! {})?;
            texts.insert(format!("{agent}_system.txt"), sent);
        }
        Ok(texts)
    }

    /// The prompt for the analyst.
    pub fn analyst(&self, question: &Question) -> Result<Prompt, PromptError> {
        let variables = variables(question, &CriticView::default());
        self.prompt("analyst", variables)
    }

    /// The prompt for the critic, about one analysis.
    pub fn critic(&self, question: &Question, view: &CriticView) -> Result<Prompt, PromptError> {
        self.prompt("critic", variables(question, view))
    }

    /// Renders the prompts of an agent. An error if a template cannot be rendered, for example
    /// because it uses an unknown variable.
    fn prompt(&self, agent: &str, variables: minijinja::Value) -> Result<Prompt, PromptError> {
        // `page.j2` puts the earlier turns after the page. Rendered without them, it is what the
        // prompts of all questions about the page begin with.
        let no_turns: [(); 0] = [];
        let page = context! { history => no_turns, ..variables.clone() };
        let page = self.render("page.j2", page)?;
        let user = self.render(&format!("{agent}_user.j2"), variables)?;
        Ok(Prompt {
            system: self.render(&format!("{agent}_system.j2"), context! {})?,
            page_bytes: if user.starts_with(&page) {
                page.len()
            } else {
                0
            },
            user,
        })
    }

    /// The message that asks again after a reply that could not be read. It contains the reader's
    /// error.
    pub fn reask(&self, error: &str) -> Result<String, PromptError> {
        self.render("reask.j2", context! { error })
    }

    /// The message that sends findings back to the analyst, one finding per line.
    pub fn revise(&self, findings: &[String]) -> Result<String, PromptError> {
        self.render("revise.j2", context! { findings => findings.to_vec() })
    }

    fn add(&mut self, name: &str, source: String) -> Result<(), PromptError> {
        let added = self
            .environment
            .add_template_owned(name.to_string(), source.clone());
        self.sources.insert(name.to_string(), source);
        added.map_err(|error| self.failure(&error))
    }

    fn render(&self, name: &str, variables: minijinja::Value) -> Result<String, PromptError> {
        self.environment
            .get_template(name)
            .and_then(|template| template.render(variables))
            // Blank lines at the edges of a template are not sent.
            .map(|text| text.trim().to_string())
            .map_err(|error| self.failure(&error))
    }

    /// Converts the innermost error, because it names the template and the line.
    fn failure(&self, mut error: &minijinja::Error) -> PromptError {
        while let Some(source) = std::error::Error::source(error).and_then(|it| it.downcast_ref()) {
            error = source;
        }
        let folder = self.folder.as_deref();
        PromptError::Template {
            // Built-in templates have no folder. Their sources are in `prompts`.
            folder: folder.unwrap_or(Path::new("prompts")).to_path_buf(),
            reason: error.to_string(),
        }
    }

    /// Renders every template, so that a bad one stops a run before its first call. Prompts are
    /// rendered once without earlier turns and findings and once with them, because templates
    /// branch on both.
    fn rehearse(&self) -> Result<(), PromptError> {
        let mut question = rehearsed();
        self.analyst(&question)?;
        self.critic(&question, &CriticView::default())?;
        question.history.push(HistoryEntry {
            question: "q".to_string(),
            value: Some(Value::Number(1.0)),
            program: Some("add(1, 2)".to_string()),
            label: Some("l".to_string()),
            source: HistorySource::Own,
        });
        let view = CriticView {
            findings: vec!["f".to_string()],
            ..CriticView::default()
        };
        self.analyst(&question)?;
        self.critic(&question, &view)?;
        self.reask("e")?;
        self.revise(&["f".to_string()])?;
        Ok(())
    }
}

/// An invented question with which templates are tested.
fn rehearsed() -> Question {
    Question {
        key: QuestionKey {
            id: "rehearsal".to_string(),
            part: "qa".to_string(),
        },
        kind: QuestionKind::StandAlone,
        document: Arc::new(Document {
            pre_text: vec!["a".to_string()],
            post_text: vec!["b".to_string()],
            table: vec![vec![String::new(), "2031".to_string()]],
            ..Document::default()
        }),
        text: "q".to_string(),
        history: Vec::new(),
    }
}

/// The template engine. An unknown variable is an error, and texts are not escaped for HTML.
fn environment() -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    // A line that has only a tag leaves no blank line.
    let syntax = SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        // Keep the newline at the end of an included template, which minijinja would otherwise
        // remove.
        .keep_trailing_newline(true)
        .build();
    // This cannot fail with the default delimiters.
    if let Ok(syntax) = syntax {
        environment.set_syntax(syntax);
    }
    environment
}
