use super::super::provider::OPENAI_BASE_URL;
use super::*;

/// The connection by these variables and changes of the default settings.
fn resolve(
    vars: &[(&str, &str)],
    change: impl FnOnce(&mut ModelSettings),
) -> Result<ModelConnection, SettingsError> {
    let find = |name: &str| {
        let mut vars = vars.iter();
        let found = vars.find(|(key, _)| *key == name);
        found.map(|(_, value)| (*value).to_owned())
    };
    let mut flags = ModelSettings::default();
    change(&mut flags);
    ModelConnection::resolve(&find, &flags)
}

fn by_variables(vars: &[(&str, &str)]) -> ModelConnection {
    resolve(vars, |_| ()).unwrap()
}

fn error(vars: &[(&str, &str)]) -> String {
    resolve(vars, |_| ()).unwrap_err().to_string()
}

const AZURE: [(&str, &str); 3] = [
    ("AZURE_OPENAI_ENDPOINT", "https://unit.openai.azure.com/"),
    ("AZURE_OPENAI_API_KEY", "azure-key"),
    ("OPENAI_API_VERSION", "2025-01-01"),
];

#[test]
fn the_first_provider_with_a_variable_is_chosen() {
    let [endpoint, azure, _] = AZURE;
    let openai = ("OPENAI_API_KEY", "sk-1");
    let served = ("OPENAI_BASE_URL", "http://127.0.0.1:1/v1");
    let anthropic = ("ANTHROPIC_API_KEY", "sk-ant-1");
    let local = ("ANTHROPIC_BASE_URL", "http://127.0.0.1:8080");
    let at_azure = (Provider::Azure, "https://unit.openai.azure.com");
    let at_anthropic = (Provider::Anthropic, "https://api.anthropic.com");
    let at_openai = |base_url| (Provider::OpenAi, base_url);
    for (vars, expected) in [
        (&AZURE[..], at_azure),
        (&[endpoint, azure, openai], at_openai(OPENAI_BASE_URL)),
        (&[endpoint, azure, served], at_openai(served.1)),
        (&[endpoint, azure, anthropic], at_azure),
        (&[anthropic], at_anthropic),
        (&[local], (Provider::Anthropic, local.1)),
        (&[anthropic, openai], at_openai(OPENAI_BASE_URL)),
        (&[anthropic, served], at_openai(served.1)),
    ] {
        let chosen = by_variables(vars);
        assert_eq!((chosen.provider, &*chosen.base_url), expected, "{vars:?}");
    }
    let chosen = by_variables(&AZURE);
    assert_eq!(
        (&*chosen.api_version, chosen.key()),
        ("2025-01-01", "azure-key")
    );
    let flag =
        |flags: &mut ModelSettings| flags.base_url = Some("http://127.0.0.1:8080/v1/".into());
    let chosen = resolve(&AZURE, flag).unwrap();
    assert_eq!(
        (chosen.provider, &*chosen.base_url),
        (Provider::OpenAi, "http://127.0.0.1:8080/v1")
    );
    assert!(chosen.api_key.is_none());
    let flag = |flags: &mut ModelSettings| flags.provider = Some(Provider::Azure);
    let both = [&AZURE[..], &[openai]].concat();
    assert_eq!(resolve(&both, flag).unwrap().provider, Provider::Azure);
}

#[test]
fn anthropics_address_is_taken_with_and_without_its_version() {
    for pasted in [
        "https://gateway.example/anthropic", "https://gateway.example/anthropic/",
        "https://gateway.example/anthropic/v1",
    ] {
        let base_url = by_variables(&[("ANTHROPIC_BASE_URL", pasted)]).base_url;
        assert_eq!(base_url, "https://gateway.example/anthropic", "{pasted}");
    }
    let api = |flags: &mut ModelSettings| {
        flags.provider = Some(Provider::Anthropic);
        flags.api = Some(OpenAiApi::Responses);
    };
    assert_eq!(
        resolve(&[], api).unwrap_err().to_string(),
        "--api responses is one of OpenAI's APIs: leave it out with --provider anthropic"
    );
}

#[test]
fn responses_are_the_default_at_openai_for_models_that_need_them() {
    const LOCAL: &str = "http://127.0.0.1:1/v1";
    use OpenAiApi::{Chat, Responses};
    for (base, model, asked, expected) in [
        (OPENAI_BASE_URL, "o3-pro", None, Responses),
        (OPENAI_BASE_URL, "gpt-5.6-sol", None, Responses),
        (OPENAI_BASE_URL, "gpt-5", None, Chat),
        (OPENAI_BASE_URL, "gpt-4o", None, Chat),
        (OPENAI_BASE_URL, "o3-pro", Some(Chat), Chat),
        (LOCAL, "o3-pro", None, Chat),
        (LOCAL, "qwen", Some(Responses), Responses),
    ] {
        let vars = [("OPENAI_API_KEY", "k"), ("OPENAI_BASE_URL", base)];
        let flags = |flags: &mut ModelSettings| {
            flags.name = model.into();
            flags.api = asked;
        };
        let found = resolve(&vars, flags).unwrap().api;
        assert_eq!(found, expected, "{base} {model} {asked:?}");
    }
}

#[test]
fn what_is_missing_is_named() {
    let anthropic = [("ANTHROPIC_BASE_URL", "https://api.anthropic.com")];
    let eu = [("OPENAI_BASE_URL", "https://eu.api.openai.com/v1")];
    let v1 = [("OPENAI_BASE_URL", "https://unit.openai.azure.com/openai/v1")];
    for (vars, missing) in [
        (
            &AZURE[..1],
            "no key for unit.openai.azure.com: set AZURE_OPENAI_API_KEY",
        ),
        (&AZURE[1..2], "Azure needs AZURE_OPENAI_ENDPOINT"),
        (
            &anthropic,
            "no key for api.anthropic.com: set ANTHROPIC_API_KEY",
        ),
        (&[], "no key for api.openai.com: set OPENAI_API_KEY"),
        (&eu, "no key for eu.api.openai.com"),
        (&v1, "no key for unit.openai"),
    ] {
        let told = error(vars);
        assert!(told.starts_with(missing), "{told}");
    }
    let claude = resolve(&[], |flags| flags.name = "claude-sonnet-4-5".into());
    let told = claude.unwrap_err().to_string();
    assert!(
        told.ends_with("; for Claude: --provider anthropic"),
        "{told}"
    );
}

#[test]
fn values_are_trimmed_and_empty_ones_are_unset() {
    let settings = by_variables(&[("OPENAI_API_KEY", " sk-1\n"), ("OPENAI_BASE_URL", " ")]);
    assert_eq!(
        (settings.key(), &*settings.base_url),
        ("sk-1", OPENAI_BASE_URL)
    );
}

#[test]
fn other_servers_need_no_key() {
    for (base, endpoint) in [
        ("http://localhost:1234/v1", Endpoint::Loopback),
        ("http://127.0.0.9:1/v1", Endpoint::Loopback),
        ("http://[::1]:8080/v1", Endpoint::Loopback),
        ("http://ollama:11434/v1", Endpoint::Compatible),
        ("https://models.example/v1", Endpoint::Compatible),
    ] {
        let settings = by_variables(&[("OPENAI_BASE_URL", base)]);
        assert_eq!(settings.endpoint(), endpoint, "{base}");
        assert!(settings.api_key.is_none(), "{base}");
    }
}

#[test]
fn a_key_goes_over_http_to_another_machine_only_if_that_is_allowed() {
    let to = |base: &str, allow_http| {
        let vars = [
            ("OPENAI_API_KEY", "k"),
            ("OPENAI_BASE_URL", base),
            (ALLOW_HTTP, allow_http),
        ];
        resolve(&vars, |_| ())
    };
    assert_eq!(
        to("http://ollama:11434/v1", "").unwrap_err().to_string(),
        "OPENAI_API_KEY would be sent to ollama unencrypted: use https://, unset the key, or set CONVFINQA_ALLOW_HTTP=true"
    );
    assert!(to("http://ollama:11434/v1", "true").is_ok());
    assert!(to("http://127.0.0.1:1/v1", "").is_ok());
    assert!(to("https://models.example/v1", "").is_ok());
}

#[test]
fn a_broken_key_is_reported_and_not_shown() {
    let with = |key| by_variables(&[("OPENAI_API_KEY", key)]);
    let error = crate::llm::HttpModel::new(with("sk-1\nsk-2")).err();
    assert_eq!(
        error.unwrap().to_string(),
        "OPENAI_API_KEY contains a line break or another character that a header cannot carry: set it again"
    );
    assert!(!format!("{:?}", with("sk-secret")).contains("sk-secret"));
}

#[test]
fn an_unusable_address_is_reported_without_what_may_be_a_key() {
    for base in [
        "localhost:8080/v1", "ftp://host/v1", "http://", "https://user:pw@host/v1",
        "https://user:1#pw@host/v1", "https://user:1/pw@host/v1", "https://host/v1?key=pw",
        "https://host/v1#pw", "host/v1?key=pw",
    ] {
        let told = error(&[("OPENAI_API_KEY", "k"), ("OPENAI_BASE_URL", base)]);
        assert!(told.starts_with("OPENAI_BASE_URL `"), "{told}");
        assert!(
            told.contains("write http://") && !told.contains("pw"),
            "{told}"
        );
    }
}

#[test]
fn a_deployment_must_fit_into_a_path() {
    for name in ["my/deployment", ""] {
        let error = resolve(&AZURE, |flags| flags.name = name.to_owned());
        assert!(matches!(error, Err(SettingsError::Model(_))), "{name}");
    }
}
