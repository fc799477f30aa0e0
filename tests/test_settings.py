"""Settings: which source wins, and what is said of what is wrong."""

import os
from pathlib import Path
from typing import Any

import pytest

from agenthost.settings import Settings, SettingsError, as_argument, as_option, read_settings


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return tmp_path / "agenthost.toml"


def refused(given: dict[str, Any], environ: dict[str, str] | None = None) -> str:
    with pytest.raises(SettingsError) as caught:
        read_settings(given, environ or {})
    return str(caught.value)


def test_without_any_word_it_listens_on_this_machine_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", "/somewhere")
    found = read_settings({}, {})
    assert (found.host, found.port) == ("127.0.0.1", 8642)
    assert (found.data, found.workspace) == (Path("/somewhere/agenthost"), Path.cwd())
    assert (found.log_format, found.log_level, found.sync) == ("human", "info", "full")


def test_the_data_folder_is_in_the_home_folder_where_nothing_else_is_said(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", "not/absolute")
    assert read_settings({}, {}).data.is_relative_to(tmp_path)


def test_options_win_over_the_environment_and_that_over_the_file(config: Path) -> None:
    config.write_text('port = 1\nhost = "file"\nlog_level = "error"\nsync = "normal"\n')
    environ = {"AGENTHOST_PORT": "2", "AGENTHOST_HOST": "environment", "AGENTHOST_CONFIG": str(config)}
    found = read_settings({"port": "3", "host": None}, environ)
    assert (found.port, found.host, found.log_level, found.sync) == (3, "environment", "error", "normal")


def test_the_file_of_the_option_wins_over_that_of_the_environment(config: Path) -> None:
    config.write_text("port = 7")
    assert read_settings({"config": str(config)}, {"AGENTHOST_CONFIG": "/no/such/file"}).port == 7


def test_a_variable_that_is_empty_counts_as_not_set() -> None:
    assert read_settings({}, {"AGENTHOST_PORT": "", "AGENTHOST_PUBLIC_META": "1"}).port == 8642


def test_an_option_can_turn_off_what_the_environment_turned_on() -> None:
    assert not read_settings({"public_meta": False}, {"AGENTHOST_PUBLIC_META": "true"}).public_meta


def test_limits_come_from_their_table(config: Path) -> None:
    config.write_text("[limits]\nlog_in_all = 5\nsessions_in_memory = 2\n")
    limits = read_settings({"config": str(config)}, {}).limits
    assert (limits.log_in_all, limits.sessions_in_memory) == (5, 2)
    assert limits.log_per_session == Settings().limits.log_per_session


def test_relative_paths_count_from_the_file_that_holds_them(
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


def test_lists_stand_between_commas_and_in_the_file_in_brackets(config: Path) -> None:
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


def test_nothing_is_public_and_only_pages_of_this_machine_are_welcome_unless_set() -> None:
    found = read_settings({}, {})
    assert (found.public_meta, found.public_metrics, found.allowed_hosts) == (False, False, ())
    assert found.cors_origins == ("http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*")
    assert (found.rate, found.max_body) == ("off", 8 * 1024 * 1024)


def test_the_key_of_the_vault_is_no_setting_and_none_that_was_mistyped() -> None:
    read_settings({}, {"AGENTHOST_SECRET_KEY": "x"})


RATE = "expected off, or a number from 1 on for each second, minute or hour, such as 100/s, 6000/m or 1000/h"
REPLACED = "there is no such setting any more; use AGENTHOST_SYNC (full, the default, or normal)"
PORT = "expected a number from 0 (any free port) to 65535"


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"port": "x"}, f"--port: {PORT}, found 'x'"),
        ({"port": "65536"}, f"--port: {PORT}, found '65536'"),
        ({"port": "-1"}, f"--port: {PORT}, found '-1'"),
        ({"host": ""}, "--host: expected a name or an address, such as 127.0.0.1, found ''"),
        ({"log_format": "xml"}, "--log-format: expected human or json, found 'xml'"),
        ({"log_level": "loud"}, "--log-level: expected debug, info, warning or error, found 'loud'"),
        ({"data": ""}, "--data: expected the path of a folder, found ''"),
        ({"data": "~nobody-of-that-name/x"}, "--data: expected the path of a folder, found '~nobody"),
        ({"workspace": "/no/such"}, "--workspace: expected the path of a folder that is there, found '/no"),
        ({"config": "/no/such.toml"}, "--config: /no/such.toml cannot be read: No such file or directory"),
        ({"rate": "0/s"}, f"--rate: {RATE}, found '0/s'"),
        ({"rate": "5/d"}, f"--rate: {RATE}, found '5/d'"),
        ({"rate": "5/s\n"}, f"--rate: {RATE}, found '5/s\\n'"),
        ({"max_body": "0"}, "--max-body: expected a number of bytes from 1 on, found '0'"),
        ({"max_connections": "15"}, "--max-connections: expected a number from 16 on, found '15'"),
        ({"allowed_hosts": "a.example:80"}, "--allowed-hosts: expected names or addresses without ports,"),
        ({"cors_origins": "app.example"}, "--cors-origins: expected origins, such as https://app.example or"),
        ({"cors_origins": "https://app.example/"}, "--cors-origins: expected origins, such as"),
        ({"cors_origins": "https://*.example"}, "--cors-origins: expected origins, such as"),
        ({"cors_origins": "null"}, "--cors-origins: expected origins, such as"),
        ({"prot": "1"}, "--prot: there is no such setting; did you mean --port?"),
        ({"x": "1"}, "--x: there is no such setting; there are --host, --port, --data, --workspace,"),
    ],
)
def test_a_wrong_option_is_named_with_what_would_be_right(given: dict[str, Any], sentence: str) -> None:
    assert refused(given).startswith(sentence)


@pytest.mark.parametrize(
    ("variable", "value", "sentence"),
    [
        ("AGENTHOST_PORT", "tcp://10.0.0.1:80", f"AGENTHOST_PORT: {PORT}, found 'tcp://10.0.0.1:80'"),
        ("AGENTHOST_PUBLIC_META", "maybe", "AGENTHOST_PUBLIC_META: expected true or false, found 'maybe'"),
        ("AGENTHOST_SYNC", "maybe", "AGENTHOST_SYNC: expected full or normal, found 'maybe'"),
        ("AGENTHOST_FULL_SYNC", "1", f"AGENTHOST_FULL_SYNC: {REPLACED}"),
        ("AGENTHOST_PROT", "1", "AGENTHOST_PROT: there is no such setting; did you mean AGENTHOST_PORT?"),
        (
            "AGENTHOST_DATA_DIR",
            "1",
            "AGENTHOST_DATA_DIR: there is no such setting; did you mean AGENTHOST_DATA?",
        ),
    ],
)
def test_a_wrong_variable_is_named_with_what_would_be_right(variable: str, value: str, sentence: str) -> None:
    assert refused({}, {variable: value}) == sentence


def test_a_variable_that_resembles_none_of_ours_is_somebody_elses() -> None:
    """Kubernetes sets such ones for a service of the name agenthost."""
    read_settings({}, {"AGENTHOST_SERVICE_HOST": "10.0.0.1", "AGENTHOST_PORT_8642_TCP_PROTO": "tcp"})


def test_what_tells_clients_which_server_to_use_is_no_wrong_setting() -> None:
    read_settings({}, {"AGENTHOST_KEY": "sesame", "AGENTHOST_URL": "http://127.0.0.1:1"})


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("port = '1'", f": port: {PORT}, found '1'"),
        ("port = true", f": port: {PORT}, found true"),
        ("public_meta = 'yes'", ": public_meta: expected true or false, found 'yes'"),
        ("full_sync = true", ": full_sync: there is no such setting any more; use sync (full, the default"),
        (
            "allowed_hosts = 'a.example'",
            ": allowed_hosts: expected names or addresses without ports, such as",
        ),
        ("cors_origins = [5]", ": cors_origins: expected origins, such as https://app.example or"),
        ("data = 5", ": data: expected the path of a folder, found 5"),
        ('data = "\\u0000"', ": data: expected the path of a folder, found '\\x00'"),
        ("log-level = 'info'", ": log-level: there is no such setting; did you mean log_level?"),
        ("config = 'x'", ": config: there is no such setting; there are host, port,"),
        ("limits = 5", ": limits: expected a table, found 5"),
        ("[limits]\nlog_in_all = 0", ": limits.log_in_all: expected a number from 1 on, found 0"),
        ("[limits]\nlog_in_all = true", ": limits.log_in_all: expected a number from 1 on, found true"),
        (
            "[limits]\nlog_at_all = 1",
            ": limits.log_at_all: there is no such setting; did you mean log_in_all?",
        ),
        ("port 5", " is not TOML: "),
    ],
)
def test_a_wrong_key_of_the_file_is_named_with_what_would_be_right(
    config: Path, text: str, sentence: str
) -> None:
    config.write_text(text)
    assert refused({"config": str(config)}).startswith(f"{config}{sentence}")


def test_a_file_that_is_no_text_and_one_that_is_a_folder_are_refused(config: Path) -> None:
    config.write_bytes(b"\xff")
    assert refused({"config": str(config)}) == f"{config} is not TOML: it is not text in UTF-8"
    sentence = f"AGENTHOST_CONFIG: {config.parent} cannot be read: Is a directory"
    assert refused({}, {"AGENTHOST_CONFIG": str(config.parent)}) == sentence


def test_arguments_of_a_call_are_named_as_such() -> None:
    assert read_settings({"port": 5, "data": Path("/x")}, {}, spelling=as_argument).data == Path("/x")
    with pytest.raises(SettingsError, match=r"^prot: there is no such setting; did you mean port\?$"):
        read_settings({"prot": 5}, {}, spelling=as_argument)
    with pytest.raises(SettingsError, match=r"^port: expected a number from 0 .* found 5\.5$"):
        read_settings({"port": 5.5}, {}, spelling=as_argument)


def test_the_environment_is_that_of_the_process_unless_another_is_given(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in [name for name in os.environ if name.startswith("AGENTHOST_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AGENTHOST_PORT", "99")
    assert read_settings({}).port == 99


def test_every_setting_is_documented() -> None:
    page = (Path(__file__).parents[1] / "docs" / "serving.md").read_text()
    for name in Settings.__struct_fields__:
        tables = {"limits": "[limits]", "model_settings": "[model_settings]", "agents": "[agents.NAME]"}
        words = [as_option(name), f"AGENTHOST_{name.upper()}", name]
        words = [tables[name]] if name in tables else words
        assert [word for word in words if f"`{word}`" not in page] == []


def test_models_are_listed_between_commas_or_one_by_one(tmp_path: Path) -> None:
    assert read_settings({"model": ["a:b", "c:d"]}, {}).model == ("a:b", "c:d")
    assert read_settings({}, {"AGENTHOST_MODEL": "a:b, c:d"}).model == ("a:b", "c:d")
    config = tmp_path / "settings.toml"
    config.write_text('model = ["a:b"]\n[model_settings]\ntemperature = 0.5\n')
    found = read_settings({"config": str(config)}, {})
    assert (found.model, found.model_settings) == (("a:b",), {"temperature": 0.5})
    config.write_text("model_settings = 5\n")
    assert refused({"config": str(config)}) == f"{config}: model_settings: expected a table, found 5"


def test_what_models_are_told_may_be_in_a_file_beside_the_settings(tmp_path: Path) -> None:
    (tmp_path / "rules.md").write_text("Be kind.\n")
    config = tmp_path / "settings.toml"
    config.write_text('system = "@rules.md"')
    assert read_settings({"config": str(config)}, {}).system == "Be kind.\n"
    assert read_settings({"system": "Be brief."}, {}).system == "Be brief."
    (tmp_path / "rules.md").write_bytes(b"\xff")
    sentence = f"{config}: system: {tmp_path / 'rules.md'} cannot be read: it is not text in UTF-8"
    assert refused({"config": str(config)}) == sentence


def test_where_models_are_asked_is_an_address() -> None:
    assert (
        read_settings({"base_url": "http://127.0.0.1:11434/v1"}, {}).base_url == "http://127.0.0.1:11434/v1"
    )
    expected = "an address such as http://127.0.0.1:11434/v1"
    assert refused({"base_url": "localhost:5"}) == f"--base-url: expected {expected}, found 'localhost:5'"
    expected = "the name of an environment variable, such as MY_API_KEY"
    assert refused({"key_env": "sk-123"}) == f"--key-env: expected {expected}, found 'sk-123'"
