"""Settings: which source wins, what is refused with which sentence, and that each is declared once."""

import inspect
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agenthost import Host, Limits
from agenthost.settings import SETTINGS, Settings, SettingsError, as_argument, read_settings

ROOT = Path(__file__).parents[1]


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return tmp_path / "agenthost.toml"


def refused(given: dict[str, Any], environ: dict[str, str] | None = None) -> str:
    with pytest.raises(SettingsError) as caught:
        read_settings(given, environ or {})
    return str(caught.value)


def test_by_default_it_listens_on_this_machine_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", "/somewhere")
    found = read_settings({}, {})
    assert (found.host, found.port) == ("127.0.0.1", 8642)
    assert (found.data, found.workspace) == (Path("/somewhere/agenthost"), Path.cwd())
    assert (found.log_format, found.log_level, found.sync) == ("human", "info", "full")


def test_the_default_data_folder_is_in_the_home_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", "not/absolute")
    assert read_settings({}, {}).data.is_relative_to(tmp_path)


def test_options_win_over_the_environment_and_the_environment_over_the_file(config: Path) -> None:
    config.write_text('port = 1\nhost = "file"\nlog_level = "error"\nsync = "normal"\n')
    environ = {"AGENTHOST_PORT": "2", "AGENTHOST_HOST": "environment", "AGENTHOST_CONFIG": str(config)}
    found = read_settings({"port": "3", "host": None}, environ)
    assert (found.port, found.host, found.log_level, found.sync) == (3, "environment", "error", "normal")


def test_the_option_config_wins_over_the_variable(config: Path) -> None:
    config.write_text("port = 7")
    assert read_settings({"config": str(config)}, {"AGENTHOST_CONFIG": "/no/such/file"}).port == 7


def test_an_empty_variable_counts_as_not_set() -> None:
    assert read_settings({}, {"AGENTHOST_PORT": "", "AGENTHOST_PUBLIC_META": "1"}).port == 8642


def test_an_option_can_turn_off_what_a_variable_turned_on() -> None:
    assert not read_settings({"public_meta": False}, {"AGENTHOST_PUBLIC_META": "true"}).public_meta


def test_limits_are_a_table_in_the_file(config: Path) -> None:
    config.write_text("[limits]\nlog_in_all = 5\nsessions_in_memory = 2\n")
    limits = read_settings({"config": str(config)}, {}).limits
    assert (limits.log_in_all, limits.sessions_in_memory) == (5, 2)
    assert limits.log_per_session == Settings().limits.log_per_session


def test_relative_paths_in_a_file_start_from_its_folder(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config.write_text('data = "kept"\nworkspace = "."\n')
    monkeypatch.chdir("/")
    found = read_settings({"config": str(config)}, {})
    assert (found.data, found.workspace) == (config.parent / "kept", config.parent)
    assert read_settings({"data": "kept"}, {}).data == Path("/kept")


def test_a_tilde_is_the_home_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert read_settings({}, {"AGENTHOST_DATA": "~/kept"}).data == tmp_path / "kept"


def test_lists_are_separated_by_commas_and_in_the_file_they_are_arrays(config: Path) -> None:
    config.write_text('allowed_hosts = ["a.example", "[::1]"]\ncors_origins = ["https://a.example"]\n')
    assert read_settings({"config": str(config)}, {}).allowed_hosts == ("a.example", "[::1]")
    environ = {
        "AGENTHOST_CORS_ORIGINS": "https://a.example:444, http://localhost:*,",
        "AGENTHOST_RATE": "10/m",
    }
    found = read_settings({"config": str(config)}, environ)
    assert found.cors_origins == ("https://a.example:444", "http://localhost:*")
    assert found.rate == "10/m"
    assert read_settings({"cors_origins": ""}, environ).cors_origins == ()
    assert read_settings({"cors_origins": ["*"]}, {}).cors_origins == ("*",)


def test_by_default_nothing_is_public_and_only_local_pages_are_welcome() -> None:
    found = read_settings({}, {})
    assert (found.public_meta, found.public_metrics, found.allowed_hosts) == (False, False, ())
    assert found.cors_origins == ("http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*")
    assert (found.rate, found.max_body) == ("off", 8 * 1024 * 1024)


def test_the_variable_with_the_secret_key_is_not_taken_for_a_typo() -> None:
    read_settings({}, {"AGENTHOST_SECRET_KEY": "x"})


RATE = "expected off, or a number of requests per second, minute or hour: 100/s, 6000/m, 1000/h"
REPLACED = "this setting was replaced; use AGENTHOST_SYNC (full, the default, or normal)"
PORT = "expected a whole number from 0 to 65535"


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"port": "x"}, f"--port: {PORT}, found 'x'"),
        ({"port": "65536"}, f"--port: {PORT}, found '65536'"),
        ({"port": "-1"}, f"--port: {PORT}, found '-1'"),
        ({"host": ""}, "--host: expected a host name or address, such as 127.0.0.1, found ''"),
        ({"log_format": "xml"}, "--log-format: expected human or json, found 'xml'"),
        ({"log_level": "loud"}, "--log-level: expected debug, info, warning or error, found 'loud'"),
        ({"data": ""}, "--data: expected the path of a folder, found ''"),
        ({"data": "~nobody-of-that-name/x"}, "--data: expected the path of a folder, found '~nobody"),
        ({"workspace": "/no/such"}, "--workspace: expected the path of an existing folder, found '/no"),
        ({"config": "/no/such.toml"}, "--config: cannot read /no/such.toml: No such file or directory"),
        ({"rate": "0/s"}, f"--rate: {RATE}, found '0/s'"),
        ({"rate": "5/d"}, f"--rate: {RATE}, found '5/d'"),
        ({"rate": "5/s\n"}, f"--rate: {RATE}, found '5/s\\n'"),
        ({"max_body": "0"}, "--max-body: expected a whole number of bytes, at least 1, found '0'"),
        ({"max_connections": "15"}, "--max-connections: expected a whole number, at least 16, found '15'"),
        (
            {"allowed_hosts": "a.example:80"},
            "--allowed-hosts: expected host names or addresses without ports,",
        ),
        ({"cors_origins": "app.example"}, "--cors-origins: expected origins such as https://app.example or"),
        ({"cors_origins": "https://app.example/"}, "--cors-origins: expected origins such as"),
        ({"cors_origins": "https://*.example"}, "--cors-origins: expected origins such as"),
        ({"cors_origins": "null"}, "--cors-origins: expected origins such as"),
        ({"prot": "1"}, "--prot: no such setting; did you mean --port?"),
        (
            {"x": "1"},
            "--x: no such setting; the settings are --model, --base-url, --key-env, --system, --acp,",
        ),
    ],
)
def test_a_wrong_option_is_refused_with_what_was_expected(given: dict[str, Any], sentence: str) -> None:
    assert refused(given).startswith(sentence)


@pytest.mark.parametrize(
    ("variable", "value", "sentence"),
    [
        ("AGENTHOST_PORT", "tcp://10.0.0.1:80", f"AGENTHOST_PORT: {PORT}, found 'tcp://10.0.0.1:80'"),
        ("AGENTHOST_PUBLIC_META", "maybe", "AGENTHOST_PUBLIC_META: expected true or false, found 'maybe'"),
        ("AGENTHOST_SYNC", "maybe", "AGENTHOST_SYNC: expected full or normal, found 'maybe'"),
        ("AGENTHOST_FULL_SYNC", "1", f"AGENTHOST_FULL_SYNC: {REPLACED}"),
        ("AGENTHOST_PROT", "1", "AGENTHOST_PROT: no such setting; did you mean AGENTHOST_PORT?"),
        (
            "AGENTHOST_DATA_DIR",
            "1",
            "AGENTHOST_DATA_DIR: no such setting; did you mean AGENTHOST_DATA?",
        ),
    ],
)
def test_a_wrong_variable_is_refused_with_what_was_expected(variable: str, value: str, sentence: str) -> None:
    assert refused({}, {variable: value}) == sentence


def test_a_variable_that_resembles_none_of_ours_is_left_alone() -> None:
    """Kubernetes sets such variables for a service that is called agenthost."""
    read_settings({}, {"AGENTHOST_SERVICE_HOST": "10.0.0.1", "AGENTHOST_PORT_8642_TCP_PROTO": "tcp"})


def test_the_variables_of_clients_are_not_taken_for_typos() -> None:
    read_settings({}, {"AGENTHOST_KEY": "sesame", "AGENTHOST_URL": "http://127.0.0.1:1"})


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("port = '1'", f": port: {PORT}, found '1'"),
        ("port = true", f": port: {PORT}, found true"),
        ("public_meta = 'yes'", ": public_meta: expected true or false, found 'yes'"),
        ("full_sync = true", ": full_sync: this setting was replaced; use sync (full, the default"),
        (
            "allowed_hosts = 'a.example'",
            ": allowed_hosts: expected host names or addresses without ports, such as",
        ),
        ("cors_origins = [5]", ": cors_origins: expected origins such as https://app.example or"),
        ("data = 5", ": data: expected the path of a folder, found 5"),
        ('data = "\\u0000"', ": data: expected the path of a folder, found '\\x00'"),
        ("log-level = 'info'", ": log-level: no such setting; did you mean log_level?"),
        ("config = 'x'", ": config: no such setting; the settings are model, base_url,"),
        ("limits = 5", ": limits: expected a table, found 5"),
        ("[limits]\nlog_in_all = 0", ": limits.log_in_all: expected a whole number, at least 1, found 0"),
        (
            "[limits]\nlog_in_all = true",
            ": limits.log_in_all: expected a whole number, at least 1, found true",
        ),
        (
            "[limits]\nlog_at_all = 1",
            ": limits.log_at_all: no such limit; did you mean log_in_all?",
        ),
    ],
)
def test_a_wrong_key_in_the_file_is_refused_with_its_line_and_what_was_expected(
    config: Path, text: str, sentence: str
) -> None:
    config.write_text(f"# settings\n{text}\n")
    line = 2 + text.count("\n")
    assert refused({"config": str(config)}).startswith(f"{config}:{line}{sentence}")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('system = """\nport = 1\n"""\nport = true', 4),
        ("port\t=true", 1),
        ("'port' = true", 1),
        ("allowed_hosts = [\n  'port',\n]\n\nport = [\n  1,\n]", 5),
        ("\n\n[limits]\nlog_in_all = 5 # port\n\n[port]\n", 6),
    ],
)
def test_the_line_is_right_however_the_file_is_written(config: Path, text: str, line: int) -> None:
    config.write_text(text)
    assert refused({"config": str(config)}).startswith(f"{config}:{line}: port: {PORT}, found ")


def test_a_key_that_is_spelled_with_escapes_is_named_without_a_line(config: Path) -> None:
    config.write_text('"p\\u006Frt" = true')
    assert refused({"config": str(config)}) == f"{config}: port: {PORT}, found true"


def test_a_key_with_a_dot_in_it_is_not_taken_for_two(config: Path) -> None:
    config.write_text('"limits.terminals" = 1')
    assert refused({"config": str(config)}).startswith(f"{config}:1: limits.terminals: no such setting; ")


def test_a_file_that_is_not_toml_is_refused_with_the_line(config: Path) -> None:
    config.write_text("port = 1\nport 5")
    assert refused({"config": str(config)}).startswith(f"{config} is not TOML: ")
    assert "line 2" in refused({"config": str(config)})


def test_a_file_that_is_not_text_and_a_folder_are_refused(config: Path) -> None:
    config.write_bytes(b"\xff")
    assert refused({"config": str(config)}) == f"{config} is not TOML: it is not UTF-8"
    sentence = f"AGENTHOST_CONFIG: cannot read {config.parent}: Is a directory"
    assert refused({}, {"AGENTHOST_CONFIG": str(config.parent)}) == sentence


def test_arguments_of_a_call_are_spelled_as_arguments() -> None:
    assert read_settings({"port": 5, "data": Path("/x")}, {}, spelling=as_argument).data == Path("/x")
    with pytest.raises(SettingsError, match=r"^prot: no such setting; did you mean port\?$"):
        read_settings({"prot": 5}, {}, spelling=as_argument)
    with pytest.raises(SettingsError, match=r"^port: expected a whole number from 0 .* found 5\.5$"):
        read_settings({"port": 5.5}, {}, spelling=as_argument)


def test_the_environment_is_by_default_that_of_the_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in [name for name in os.environ if name.startswith("AGENTHOST_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AGENTHOST_PORT", "99")
    assert read_settings({}).port == 99


def test_the_tables_in_the_docs_are_those_of_the_declarations() -> None:
    script = [sys.executable, str(ROOT / "scripts" / "settings_docs.py"), "--check"]
    done = subprocess.run(script, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("name", [name for name, one in SETTINGS.items() if not one.is_table])
def test_every_setting_has_an_option_a_variable_and_a_key(name: str, config: Path) -> None:
    setting = SETTINGS[name]
    expected = f": expected {setting.kind.expected}, found "
    if name in ("host", "model", "system", "acp"):  # any text will do
        assert read_settings({name: "x"}, {}) == read_settings({}, {setting.variable: "x"}) != Settings()
    else:
        assert refused({name: "\0"}).startswith(setting.option + expected)
        assert refused({}, {setting.variable: "\0"}).startswith(setting.variable + expected)
    config.write_text(f"{name} = 1.5")
    in_file = refused({"config": str(config)})
    assert in_file.startswith(
        f"{config}:1: {name}" + (expected if setting.is_in_file else ": no such setting")
    )


def test_defaults_pass_their_own_checks() -> None:
    texts = {name: one.default for name, one in SETTINGS.items() if isinstance(one.default, str | int)}
    found = read_settings({name: str(value) for name, value in texts.items()}, {})
    assert {name: getattr(found, name) for name in texts} == texts


def test_settings_of_the_host_are_arguments_of_it_with_the_same_defaults() -> None:
    arguments = inspect.signature(Host).parameters
    own = [one for one in SETTINGS.values() if one.host_argument]
    assert {one.host_argument.partition("=")[0] for one in own} <= set(arguments)
    for name in ("sync", "sandbox", "terminals"):
        assert arguments[name].default == SETTINGS[name].default
    assert Settings().limits == Limits()


def test_models_are_separated_by_commas_or_given_one_by_one(tmp_path: Path) -> None:
    assert read_settings({"model": ["a:b", "c:d"]}, {}).model == ("a:b", "c:d")
    assert read_settings({}, {"AGENTHOST_MODEL": "a:b, c:d"}).model == ("a:b", "c:d")
    config = tmp_path / "settings.toml"
    config.write_text('model = ["a:b"]\n[model_settings]\ntemperature = 0.5\n')
    found = read_settings({"config": str(config)}, {})
    assert (found.model, found.model_settings) == (("a:b",), {"temperature": 0.5})
    config.write_text("model_settings = 5\n")
    assert refused({"config": str(config)}) == f"{config}:1: model_settings: expected a table, found 5"


def test_the_system_prompt_may_be_in_a_file_next_to_the_settings(tmp_path: Path) -> None:
    (tmp_path / "rules.md").write_text("Be kind.\n")
    config = tmp_path / "settings.toml"
    config.write_text('system = "@rules.md"')
    assert read_settings({"config": str(config)}, {}).system == "Be kind.\n"
    assert read_settings({"system": "Be brief."}, {}).system == "Be brief."
    (tmp_path / "rules.md").write_bytes(b"\xff")
    sentence = f"{config}:1: system: cannot read {tmp_path / 'rules.md'}: it is not UTF-8"
    assert refused({"config": str(config)}) == sentence


def test_the_base_url_and_the_key_variable_are_checked() -> None:
    assert (
        read_settings({"base_url": "http://127.0.0.1:11434/v1"}, {}).base_url == "http://127.0.0.1:11434/v1"
    )
    expected = "a URL such as http://127.0.0.1:11434/v1"
    assert refused({"base_url": "localhost:5"}) == f"--base-url: expected {expected}, found 'localhost:5'"
    expected = "the name of an environment variable, such as MY_API_KEY"
    assert refused({"key_env": "sk-123"}) == f"--key-env: expected {expected}, found 'sk-123'"
