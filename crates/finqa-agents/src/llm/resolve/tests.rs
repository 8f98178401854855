use super::super::provider::OPENAI_BASE_URL;
use super::*;

fn resolve(vars: &[(&str, &str)], flags: ModelSettings) -> Result<ModelConnection, SettingsError> {
    let find = |name: &str| {
        vars.iter()
            .find(|(key, _)| *key == name)
            .map(|(_, value)| (*value).to_owned())
    };
    ModelConnection::resolve(&find, &flags)
}

const AZURE: [(&str, &str); 3] = [
    ("AZURE_OPENAI_ENDPOINT", "https://unit.openai.azure.com/"),
    ("AZURE_OPENAI_API_KEY", "azure-key"),
    ("OPENAI_API_VERSION", "2025-01-01"),
];

#[test]
fn azure_is_chosen_only_without_an_openai_key() {
    let settings = resolve(&AZURE, ModelSettings::default()).unwrap();
    assert_eq!(settings.provider, Provider::Azure);
    assert_eq!(settings.base_url, "https://unit.openai.azure.com");
    assert_eq!(settings.api_version, "2025-01-01");
    assert_eq!(settings.key(), "azure-key");

    let mut both = AZURE.to_vec();
    both.push(("OPENAI_API_KEY", "sk-1"));
    let settings = resolve(&both, ModelSettings::default()).unwrap();
    assert_eq!(settings.provider, Provider::OpenAi);
    assert_eq!(settings.base_url, OPENAI_BASE_URL);
    assert_eq!(settings.key(), "sk-1");

    let azure = ModelSettings {
        provider: Some(Provider::Azure),
        ..ModelSettings::default()
    };
    assert_eq!(resolve(&both, azure).unwrap().provider, Provider::Azure);
}

#[test]
fn a_base_url_flag_takes_precedence_over_azure_variables() {
    let flags = ModelSettings {
        base_url: Some("http://127.0.0.1:8080/v1/".into()),
        ..ModelSettings::default()
    };
    let settings = resolve(&AZURE, flags).unwrap();
    assert_eq!(settings.provider, Provider::OpenAi);
    assert_eq!(settings.base_url, "http://127.0.0.1:8080/v1");
    assert!(settings.api_key.is_none());
}

#[test]
fn anthropic_is_chosen_only_where_no_other_provider_is_set() {
    let chosen = |vars: &[(&str, &str)]| {
        let settings = resolve(vars, ModelSettings::default()).unwrap();
        (settings.provider, settings.base_url)
    };
    let key = ("ANTHROPIC_API_KEY", "sk-ant-1");
    let own = (Provider::Anthropic, "https://api.anthropic.com".to_owned());
    assert_eq!(chosen(&[key]), own);
    let local = chosen(&[("ANTHROPIC_BASE_URL", "http://127.0.0.1:8080")]);
    assert_eq!(local.0, Provider::Anthropic);
    assert_eq!(chosen(&[key, ("OPENAI_API_KEY", "k")]).0, Provider::OpenAi);
    let served = ("OPENAI_BASE_URL", "http://127.0.0.1:1/v1");
    assert_eq!(chosen(&[key, served]).0, Provider::OpenAi);
    let [endpoint, azure, _] = AZURE;
    assert_eq!(chosen(&[key, endpoint, azure]).0, Provider::Azure);
}

#[test]
fn anthropics_address_is_taken_with_and_without_its_version() {
    for pasted in [
        "https://gateway.example/anthropic", "https://gateway.example/anthropic/",
        "https://gateway.example/anthropic/v1",
    ] {
        let settings = resolve(&[("ANTHROPIC_BASE_URL", pasted)], ModelSettings::default());
        let base_url = settings.unwrap().base_url;
        assert_eq!(base_url, "https://gateway.example/anthropic", "{pasted}");
    }
    let flags = ModelSettings {
        provider: Some(Provider::Anthropic),
        ..ModelSettings::default()
    };
    let error = resolve(&[], flags.clone()).unwrap_err().to_string();
    assert!(error.contains("ANTHROPIC_API_KEY"), "{error}");
    let api = Some(OpenAiApi::Responses);
    let error = resolve(&[], ModelSettings { api, ..flags }).unwrap_err();
    assert_eq!(
        error.to_string(),
        "--api responses is one of OpenAI's APIs: leave it out with --provider anthropic"
    );
}

#[test]
fn responses_are_the_default_at_openai_for_models_that_need_them() {
    let api = |base: &str, model: &str, asked| {
        let vars = [("OPENAI_API_KEY", "k"), ("OPENAI_BASE_URL", base)];
        let flags = ModelSettings {
            name: model.into(),
            api: asked,
            ..ModelSettings::default()
        };
        resolve(&vars, flags).unwrap().api
    };
    assert_eq!(api(OPENAI_BASE_URL, "o3-pro", None), OpenAiApi::Responses);
    assert_eq!(
        api(OPENAI_BASE_URL, "gpt-5.6-sol", None),
        OpenAiApi::Responses
    );
    assert_eq!(api(OPENAI_BASE_URL, "gpt-5", None), OpenAiApi::Chat);
    assert_eq!(api(OPENAI_BASE_URL, "gpt-4o", None), OpenAiApi::Chat);
    let asked = Some(OpenAiApi::Chat);
    assert_eq!(api(OPENAI_BASE_URL, "o3-pro", asked), OpenAiApi::Chat);
    let local = "http://127.0.0.1:1/v1";
    assert_eq!(api(local, "o3-pro", None), OpenAiApi::Chat);
    let asked = Some(OpenAiApi::Responses);
    assert_eq!(api(local, "qwen", asked), OpenAiApi::Responses);
}

#[test]
fn one_of_azures_two_variables_names_the_other() {
    let error = resolve(&AZURE[..1], ModelSettings::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "no key for unit.openai.azure.com: set AZURE_OPENAI_API_KEY (in the environment or in .env)"
    );
    let error = resolve(&AZURE[1..2], ModelSettings::default()).unwrap_err();
    assert!(
        error.to_string().contains("AZURE_OPENAI_ENDPOINT"),
        "{error}"
    );
}

#[test]
fn values_are_trimmed_and_empty_ones_are_unset() {
    let settings = resolve(
        &[("OPENAI_API_KEY", " sk-1\n"), ("OPENAI_BASE_URL", " ")],
        ModelSettings::default(),
    )
    .unwrap();
    assert_eq!(settings.key(), "sk-1");
    assert_eq!(settings.base_url, OPENAI_BASE_URL);
}

#[test]
fn only_the_servers_of_openai_and_azure_need_a_key() {
    for (base, endpoint) in [
        ("http://localhost:1234/v1", Endpoint::Loopback),
        ("http://127.0.0.9:1/v1", Endpoint::Loopback),
        ("http://[::1]:8080/v1", Endpoint::Loopback),
        ("http://ollama:11434/v1", Endpoint::Compatible),
        ("http://10.0.0.7/v1", Endpoint::Compatible),
        ("https://models.example/v1", Endpoint::Compatible),
    ] {
        let settings = resolve(&[("OPENAI_BASE_URL", base)], ModelSettings::default()).unwrap();
        assert_eq!(settings.endpoint(), endpoint, "{base}");
        assert!(settings.api_key.is_none(), "{base}");
    }
    for base in [
        OPENAI_BASE_URL,
        "https://eu.api.openai.com/v1",
        "https://unit.openai.azure.com/openai/v1",
    ] {
        let error = resolve(&[("OPENAI_BASE_URL", base)], ModelSettings::default());
        assert!(matches!(error, Err(SettingsError::NoKey { .. })), "{base}");
    }
    let error = resolve(&[], ModelSettings::default());
    assert!(matches!(error, Err(SettingsError::NoKey { .. })));
}

#[test]
fn a_key_goes_over_http_to_another_machine_only_if_that_is_allowed() {
    let to = |base: &str, allow_http| {
        let vars = [("OPENAI_API_KEY", "k"), ("OPENAI_BASE_URL", base)];
        let flags = ModelSettings {
            allow_http,
            ..ModelSettings::default()
        };
        resolve(&vars, flags)
    };
    let error = to("http://ollama:11434/v1", false).unwrap_err();
    assert_eq!(
        error.to_string(),
        "OPENAI_API_KEY would be sent to ollama unencrypted: use https://, unset the key, or pass --allow-http"
    );
    assert!(to("http://ollama:11434/v1", true).is_ok());
    assert!(to("http://127.0.0.1:1/v1", false).is_ok());
    assert!(to("https://models.example/v1", false).is_ok());
}

#[test]
fn a_broken_key_is_reported_and_not_shown() {
    let with = |key| resolve(&[("OPENAI_API_KEY", key)], ModelSettings::default()).unwrap();
    let error = crate::llm::HttpModel::new(with("sk-1\nsk-2")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "OPENAI_API_KEY contains a line break or another character that a header cannot carry: set it again"
    );
    assert!(!format!("{:?}", with("sk-secret")).contains("sk-secret"));
}

#[test]
fn an_unusable_address_is_reported() {
    for (base, hint) in [
        ("localhost:8080/v1", "http://"),
        ("api.openai.com/v1", "http://"),
        ("ftp://host/v1", "http://"),
        ("http://", "host"),
        ("https://user:pw@host/v1", "user name"),
        ("https://user:1#pw@host/v1", "user name"),
        ("https://user:1?pw@host/v1", "user name"),
        ("https://user:1/pw@host/v1", "user name"),
        ("https://user:a#pw@host/v1", "user name"),
        ("https://host/v1?key=pw", "query string"),
        ("https://u.openai.azure.com/?api-version=1", "query string"),
        ("https://host/v1#pw", "query string"),
        ("host/v1?key=pw", "http://"),
    ] {
        let error = resolve(
            &[("OPENAI_API_KEY", "k"), ("OPENAI_BASE_URL", base)],
            ModelSettings::default(),
        )
        .unwrap_err()
        .to_string();
        assert!(error.contains(hint) && !error.contains("pw"), "{error}");
    }
}

#[test]
fn a_deployment_must_fit_into_a_path() {
    let name = "my/deployment".into();
    let flags = ModelSettings {
        name,
        ..ModelSettings::default()
    };
    assert!(matches!(
        resolve(&AZURE, flags),
        Err(SettingsError::Model { .. })
    ));
}
