//! Tests which servers and keys flags and variables select.

use super::super::provider::OPENAI_BASE_URL;
use super::*;

/// The connection for these variables and changes of the default settings.
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
    let version = chosen.api_version.as_deref();
    assert_eq!((version, chosen.key()), (Some("2025-01-01"), "azure-key"));
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
        "responses is one of OpenAI's APIs, and the provider is Anthropic"
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
    let is_claude = matches!(
        claude,
        Err(SettingsError::NoKey {
            is_claude: true,
            ..
        })
    );
    assert!(is_claude);
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
    for key in ["sk-1\nsk-2", "\"sk-1\"", "Bearer sk-1", "sk-\u{200b}1"] {
        for variable in [
            "OPENAI_API_KEY", "AZURE_OPENAI_API_KEY", "ANTHROPIC_API_KEY",
        ] {
            let vars = [
                (variable, key),
                ("AZURE_OPENAI_ENDPOINT", "https://unit.openai.azure.com"),
            ];
            let provider = |flags: &mut ModelSettings| {
                let mut of = Provider::all().filter(|it| variable.starts_with(it.prefix()));
                flags.provider = of.next();
            };
            let told = resolve(&vars, provider).unwrap_err().to_string();
            let start = format!("{variable} contains a quotation mark, a blank or");
            assert!(told.starts_with(&start) && !told.contains("sk-"), "{told}");
        }
    }
    let shown = format!("{:?}", by_variables(&[("OPENAI_API_KEY", "sk-secret")]));
    assert!(!shown.contains("sk-secret"));
}

/// The key of a gateway that `OPENAI_API_BASE` named was once sent to OpenAI.
#[test]
fn the_other_name_of_the_base_url_counts_like_the_first() {
    let key = ("OPENAI_API_KEY", "k");
    let anthropic = ("ANTHROPIC_API_KEY", "k");
    let one = ("OPENAI_BASE_URL", "https://one.example/v1");
    let alias = ("OPENAI_API_BASE", "https://one.example/v1/");
    let other = ("OPENAI_API_BASE", "https://other.example/v1");
    for vars in [
        &[key, alias][..],
        &[alias],
        &[one, alias],
        &[anthropic, alias],
    ] {
        let chosen = by_variables(vars);
        let found = (chosen.provider, &*chosen.base_url);
        assert_eq!(found, (Provider::OpenAi, one.1), "{vars:?}");
    }
    let differ = "OPENAI_BASE_URL and OPENAI_API_BASE differ: unset one of them";
    assert_eq!(error(&[key, one, other]), differ);
    let flag = |flags: &mut ModelSettings| flags.base_url = Some("https://flag.example/v1".into());
    let chosen = resolve(&[key, one, other], flag).unwrap();
    assert_eq!(chosen.base_url, "https://flag.example/v1");

    let [endpoint, azure, version] = AZURE;
    let alias = |value| ("AZURE_OPENAI_API_VERSION", value);
    let chosen = by_variables(&[endpoint, azure, alias("2024-06-01")]);
    assert_eq!(chosen.api_version.as_deref(), Some("2024-06-01"));
    assert_eq!(
        error(&[endpoint, azure, version, alias("2024-06-01")]),
        "OPENAI_API_VERSION and AZURE_OPENAI_API_VERSION differ: unset one of them"
    );
}

#[test]
fn an_address_that_ends_in_the_path_of_an_api_is_understood() {
    use OpenAiApi::{Chat, Responses};
    for (provider, path, base, api) in [
        (Provider::OpenAi, "/v1/chat/completions", "/v1", Chat),
        (Provider::OpenAi, "/v1/chat/completions/", "/v1", Chat),
        (Provider::OpenAi, "/v1/completions", "/v1", Chat),
        (Provider::OpenAi, "/v1/responses", "/v1", Responses),
        (Provider::OpenAi, "/chat/completions", "", Chat),
        (Provider::Anthropic, "/v1/messages", "", Chat),
        (
            Provider::Anthropic,
            "/anthropic/v1/messages",
            "/anthropic",
            Chat,
        ),
    ] {
        let flags = |flags: &mut ModelSettings| {
            flags.provider = Some(provider);
            flags.base_url = Some(format!("https://gateway.example{path}"));
        };
        let chosen = resolve(&[], flags).unwrap();
        let base = format!("https://gateway.example{base}");
        assert_eq!((&chosen.base_url, chosen.api), (&base, api), "{path}");
        resolves_to_the_same(&chosen);
    }
    for (provider, path, words) in [
        (
            Provider::OpenAi,
            "/v1/messages",
            "`/messages`, an API of anthropic",
        ),
        (
            Provider::Anthropic,
            "/v1/responses",
            "`/responses`, an API of openai",
        ),
    ] {
        let flags = |flags: &mut ModelSettings| {
            flags.provider = Some(provider);
            flags.base_url = Some(format!("https://gateway.example{path}"));
        };
        let told = resolve(&[], flags).unwrap_err().to_string();
        assert_eq!(told, format!("the base URL ends in {words}"));
    }
}

/// A run stores the address, and is resumed by the address alone.
#[track_caller]
fn resolves_to_the_same(chosen: &ModelConnection) {
    let variable = chosen.provider.profile().key_variable;
    let kept = |flags: &mut ModelSettings| {
        flags.provider = Some(chosen.provider);
        flags.base_url = Some(chosen.address.clone());
        flags.name.clone_from(&chosen.model);
    };
    let again = resolve(&[(variable, "k")], kept).unwrap();
    let parts = |it: &ModelConnection| (it.base_url.clone(), it.api, it.api_version.clone());
    assert_eq!(parts(&again), parts(chosen), "{}", chosen.address);
    assert_eq!(shown_address(&chosen.address), chosen.address);
}

/// Azure's portal and documentation show these addresses.
#[test]
fn the_target_uri_of_azure_is_understood() {
    use OpenAiApi::{Chat, Responses};
    let classic = Some(AZURE_API_VERSION);
    let at = "https://unit.openai.azure.com";
    let v1 = "https://unit.openai.azure.com/openai/v1";
    let models = "https://unit.services.ai.azure.com/models";
    for (given, base, api, version) in [
        (
            format!(
                "{at}/openai/deployments/gpt-4o/chat/completions?api-version=2025-01-01-preview"
            ),
            at,
            Chat,
            Some("2025-01-01-preview"),
        ),
        (format!("{at}/openai/deployments/GPT-4o"), at, Chat, classic),
        (
            format!("{at}/openai/responses?api-version=2025-04-01-preview"),
            at,
            Responses,
            Some("2025-04-01-preview"),
        ),
        (format!("{at}/openai/"), at, Chat, classic),
        (
            format!("{at}/?api-version=2024-06-01"),
            at,
            Chat,
            Some("2024-06-01"),
        ),
        (format!("{v1}/"), v1, Chat, None),
        (format!("{v1}/chat/completions"), v1, Chat, None),
        (
            format!("{v1}/responses?api-version=preview"),
            v1,
            Responses,
            Some("preview"),
        ),
        (
            format!("{models}/chat/completions?api-version=2024-05-01-preview"),
            models,
            Chat,
            Some("2024-05-01-preview"),
        ),
        (models.to_owned(), models, Chat, None),
    ] {
        let vars = [("AZURE_OPENAI_ENDPOINT", &*given), AZURE[1]];
        let model = |flags: &mut ModelSettings| flags.name = "gpt-4o".into();
        let chosen = resolve(&vars, model).unwrap();
        let found = (&*chosen.base_url, chosen.api, chosen.api_version.as_deref());
        assert_eq!(found, (base, api, version), "{given}");
        resolves_to_the_same(&chosen);
        let with_flag = |flags: &mut ModelSettings| {
            model(flags);
            flags.provider = Some(Provider::Azure);
            flags.base_url = Some(given.clone());
        };
        let chosen = resolve(&AZURE[1..2], with_flag).unwrap();
        assert_eq!((&*chosen.base_url, chosen.api), (base, api), "{given}");
    }
    let target = format!("{at}/openai/deployments/gpt-4o/chat/completions?api-version=2025-01-01");
    let set = [
        ("AZURE_OPENAI_ENDPOINT", &*target),
        AZURE[1],
        ("OPENAI_API_VERSION", "2024-06-01"),
    ];
    let chosen = resolve(&set, |flags| flags.name = "gpt-4o".into()).unwrap();
    assert_eq!(chosen.api_version.as_deref(), Some("2024-06-01"));
    let other = resolve(&set, |flags| flags.name = "gpt-4.1".into());
    let told = other.unwrap_err().to_string();
    let words = "AZURE_OPENAI_ENDPOINT names the deployment `gpt-4o`, and the model is `gpt-4.1`";
    assert!(told.starts_with(words), "{told}");
    for (given, words) in [
        (
            "https://unit.services.ai.azure.com/api/projects/p",
            "a Foundry project",
        ),
        (
            "https://unit.services.ai.azure.com/anthropic/v1/messages",
            "an API of anthropic",
        ),
        (
            "https://unit.openai.azure.com/?api-version=1&key=pw",
            "is not a usable address",
        ),
    ] {
        let told = error(&[("AZURE_OPENAI_ENDPOINT", given), AZURE[1]]);
        assert!(told.contains(words) && !told.contains("pw"), "{told}");
    }
    let told = error(&[("OPENAI_BASE_URL", &target)]);
    assert!(told.contains("is not a usable address"), "{told}");
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
            told.ends_with("` is not a usable address") && !told.contains("pw"),
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

/// `NO_PROXY` was once compared as a suffix, so that `example.com` hid the proxy of
/// `evilexample.com`. Addresses and networks were not compared at all.
#[test]
fn the_proxy_of_an_error_is_the_one_that_the_client_uses() {
    let named = |set: &[(&str, &str)], url: &str| {
        let var = |name: &str| {
            let found = set.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        let of = |name| var(name).unwrap_or_default();
        let proxies = Matcher::builder();
        let proxies = proxies.http(of("http_proxy")).https(of("HTTPS_PROXY"));
        let proxies = proxies.all(of("ALL_PROXY")).no(of("NO_PROXY")).build();
        proxy(&proxies, &var, &Url::parse(url).unwrap())
    };
    let by = |no: &'static str| [("HTTPS_PROXY", "http://me:pw@proxy:3128"), ("NO_PROXY", no)];
    let shown = Some("http://proxy:3128 (HTTPS_PROXY)".to_owned());
    for (no, url, expected) in [
        ("example.com", "https://evilexample.com/v1", shown.clone()),
        ("example.com", "https://api.example.com/v1", None),
        (".example.com, other", "https://example.com/v1", None),
        ("10.0.0.0/8", "https://10.1.2.3/v1", None),
        ("10.0.0.0/8", "https://11.1.2.3/v1", shown),
        ("*", "https://example.com/v1", None),
        ("", "http://example.com/v1", None),
    ] {
        assert_eq!(named(&by(no), url), expected, "{no}: {url}");
    }
    // The client cannot use this proxy, so it does not count.
    let unusable = [("HTTPS_PROXY", "ftp://proxy"), ("ALL_PROXY", "proxy:80")];
    let all = named(&unusable, "https://example.com/v1");
    assert_eq!(all.as_deref(), Some("proxy:80 (ALL_PROXY)"));
    assert_eq!(named(&[("http_proxy", "")], "http://example.com"), None);
}
