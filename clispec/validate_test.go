package clispec_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/hashicorp/go-multierror"
	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/specs"
)

// malformed is a spec with one error.
type malformed struct {
	name    string
	spoil   func(*clispec.Spec)
	path    string
	problem string
}

// sound returns a valid spec that uses every part of the language.
func sound() clispec.Spec {
	return clispec.Spec{
		Name: "mine", InstanceOf: "ours", Binary: "mine", AltBinaries: []string{"my-cli", "/opt/mine"},
		Packages: []string{"mine", "@mine/my-cli"}, ProviderSlug: "mine-cli", Vendor: "mine", MCPClients: []string{"mine-mcp*"}, DefaultModel: "d", UseModel: "m-1", UseEffort: "low",
		PromptStyle: clispec.DashP,
		Transports:  []clispec.Transport{clispec.TransportStdin, clispec.TransportArgv},
		Outputs:     []clispec.OutputMode{clispec.OutputStream, clispec.OutputText},
		Guards:      []clispec.GuardRule{{Pattern: `^/`, Prefix: "\n"}},
		Files:       []clispec.FileRow{{Field: "system", Name: "system.md", Content: "{system}"}},
		Args:        []clispec.ArgRow{{Args: []string{"--system={system_file}", "{prompt}"}, When: clispec.When{Set: []string{"system"}, Unset: []string{"model"}, Since: "1.2", Before: "v2.0.0-rc.1"}}},
		Env:         []clispec.EnvRow{{Name: "MINE", Value: "{effort}"}},
		SetEnv:      map[string]string{"MINE_HOME": "~/.mine"},
		PassEnv:     []string{"MINE_*", "OTHER"}, DropEnv: []string{"MINE_SESSION"},
		PassEnvIf: []clispec.PassRule{{Pass: []string{"CLOUD_*"}, Env: []string{"USE_CLOUD"}, Files: []clispec.FileFact{{Path: "~/.mine"}}, Models: []string{"cloud/"}}},
		Models:    clispec.ModelRules{Accept: []string{"^m-"}, Aliases: map[string]string{"big": "m-big"}},
		Preflight: []clispec.PreflightRule{{Root: true, Reason: call.ReasonPermissionRefused, Message: "not as root"}},
		Events: []clispec.EventRule{
			{Match: map[string]string{"type": "text", "@.kind": "t"}, Each: "parts", Kind: call.EventText, Set: map[string]string{"text": "@.text ?? text"}},
			{Match: map[string]string{"type": "result"}, Kind: call.EventResult, Terminal: true, Set: map[string]string{"failed": "=true"}},
		},
		Confine: clispec.ConfineRules{
			State: []clispec.StatePath{{Path: "${MINE_HOME:-~/.mine}", Watch: []string{"settings.json", "hooks"}}, {Path: "~/.mine.json", File: true, Watch: []string{"servers"}}},
			Read:  []string{"${MINE_CERTS}", "/etc/mine"}, Own: []call.Access{call.AccessRead},
		},
		Answer:    clispec.AnswerLastBlock,
		Lines:     []clispec.LineRule{{Pattern: `failed with (?P<status>\d+)`, On: []clispec.Evidence{clispec.OnStderr}, Kind: call.EventRetry}},
		ExitCodes: map[int]call.Reason{41: call.ReasonUnauthenticated},
		Hints:     map[call.Reason]string{call.ReasonTimeout: "wait"},
		LingerMS:  60_000,
	}
}

func TestValidSpecs(t *testing.T) {
	require.NoError(t, sound().Validate())
	require.NoError(t, clispec.Spec{Name: "a", Binary: "a"}.Validate(), "the least there can be")
	for _, spec := range specs.Every() {
		require.NoError(t, spec.Validate(), spec.Name)
	}
}

type spec = clispec.Spec

// malformedTables contains errors in the fields that compose a call. malformedRules, in another file, contains errors
// in the rules that read its output.
var malformedTables = []malformed{
	{"guard file in a parent directory", func(s *spec) { s.GuardFiles = []string{"../.env"} }, "guard_files[0]", "must be the path"},
	{"absolute guard file", func(s *spec) { s.GuardFiles = []string{"a", "/.env"} }, "guard_files[1]", "must be the path"},
	{"folder file in a parent directory", func(s *spec) { s.FolderFiles = []string{"./../.env"} }, "folder_files[0]", "must be the path"},
	{"absolute folder file", func(s *spec) { s.FolderFiles = []string{"./a", "/.env"} }, "folder_files[1]", "must be the path"},
	{"no name", func(s *spec) { s.Name = "" }, "name", "must be lower-case"},
	{"upper-case name", func(s *spec) { s.Name = "Mine" }, "name", "must be lower-case"},
	{"blank in the name", func(s *spec) { s.Name = "my cli" }, "name", "must be lower-case"},
	{"colon in the name", func(s *spec) { s.Name = "my:cli" }, "name", "must be lower-case"},
	{"name with a leading dash", func(s *spec) { s.Name = "-mine" }, "name", "must be lower-case"},
	{"invalid instance_of", func(s *spec) { s.InstanceOf = "My cli" }, "instance_of", "must be lower-case"},
	{"no binary", func(s *spec) { s.Binary = "" }, "binary", "is missing"},
	{"relative binary", func(s *spec) { s.Binary = "./mine" }, "binary", "bare name or an absolute path"},
	{"binary with NUL", func(s *spec) { s.Binary = "mi\x00ne" }, "binary", "bare name"},
	{"relative alternative binary", func(s *spec) { s.AltBinaries[1] = "bin/mine" }, "alt_binaries[1]", "bare name or an absolute path"},
	{"invalid package", func(s *spec) { s.Packages[1] = "@mine/my-cli@2.0.0" }, "packages[1]", "is not the name of an npm package"},
	{"unknown prompt style", func(s *spec) { s.PromptStyle = "dash_q" }, "prompt_style", `none of ["dash_p" "run_subcommand"]`},
	{"unknown answer", func(s *spec) { s.Answer = "first" }, "answer", "none of"},
	{"output", func(s *spec) { s.Outputs[1] = "xml" }, "outputs[1]", "none of"},
	{"transport", func(s *spec) { s.Transports[1] = "file" }, "transports[1]", "none of"},
	{"negative linger", func(s *spec) { s.LingerMS = -1 }, "linger_ms", "0 to 60000"},
	{"linger above the limit", func(s *spec) { s.LingerMS = 60_001 }, "linger_ms", "0 to 60000"},

	{"file without a name", func(s *spec) { s.Files[0].Name = "" }, "files[0].name", "bare file name"},
	{"file in another directory", func(s *spec) { s.Files[0].Name = "../x" }, "files[0].name", "bare file name"},
	{"parent directory as a file", func(s *spec) { s.Files[0].Name = ".." }, "files[0].name", "bare file name"},
	{"absolute file", func(s *spec) { s.Files[0].Name = "/etc/passwd" }, "files[0].name", "bare file name"},
	{"invalid file field", func(s *spec) { s.Files = append(s.Files, clispec.FileRow{Field: "A-b", Name: "x"}) }, "files[1].field", "must be lower-case"},
	{"unknown field in file content", func(s *spec) { s.Files[0].Content = "{systm}" }, "files[0].content", "is not a field of a request"},
	{"file content that refers to itself", func(s *spec) { s.Files[0].Content = "{system_file}" }, "files[0].content", "is not a field of a request"},
	{"unknown field in a file condition", func(s *spec) { s.Files[0].When.Set = []string{"systm"} }, "files[0].when.set[0]", "is not a field of a request"},

	{"row without arguments", func(s *spec) { s.Args[0].Args = nil }, "args[0].args", "is empty"},
	{"unknown field in an argument", func(s *spec) { s.Args[0].Args[1] = "--x={promt}" }, "args[0].args[1]", "is not a field of a request"},
	{"unknown JSON field in an argument", func(s *spec) { s.Args[0].Args[1] = "{promt:json}" }, "args[0].args[1]", "is not a field of a request"},
	{"unknown file in an argument", func(s *spec) { s.Args[0].Args[1] = "{policy_file}" }, "args[0].args[1]", "is not a field of a request"},
	{"argument with NUL", func(s *spec) { s.Args[0].Args[1] = "a\x00" }, "args[0].args[1]", "NUL"},
	{"each", func(s *spec) { s.Args[0].Each = "tools" }, "args[0].each", "is not a field of a request"},
	{"unset", func(s *spec) { s.Args[0].When.Unset[0] = "modl" }, "args[0].when.unset[0]", "is not a field of a request"},
	{"access", func(s *spec) { s.Args[0].When.Access = []call.Access{1, 9} }, "args[0].when.access[1]", "is not an access level"},
	{"negative access", func(s *spec) { s.Args[0].When.Access = []call.Access{-1} }, "args[0].when.access[0]", "is not an access level"},
	{"unknown output in a condition", func(s *spec) { s.Args[0].When.Output = []clispec.OutputMode{"xml"} }, "args[0].when.output[0]", "none of"},
	{"unknown transport in a condition", func(s *spec) { s.Args[0].When.Transport = []clispec.Transport{"file"} }, "args[0].when.transport[0]", "none of"},

	{"invalid first version in a condition", func(s *spec) { s.Args[0].When.Since = ">=2.1" }, "args[0].when.since", "is not a version: write it as the CLI prints it"},
	{"invalid last version in a condition", func(s *spec) { s.Args[0].When.Before = "latest" }, "args[0].when.before", "is not a version"},
	{"empty version range in a condition", func(s *spec) { s.Args[0].When.Before = "1.2.0" }, "args[0].when.before", "must be higher than since, which is 1.2"},
	{"invalid variable in a condition", func(s *spec) { s.Args[0].When.Env = []string{"A=B"} }, "args[0].when.env[0]", "not the name of a variable"},

	{"variable without a name", func(s *spec) { s.Env[0].Name = "" }, "env[0].name", "not the name of a variable"},
	{"variable with =", func(s *spec) { s.Env[0].Name = "A=B" }, "env[0].name", "not the name of a variable"},
	{"unknown field in a variable's value", func(s *spec) { s.Env[0].Value = "{efort}" }, "env[0].value", "is not a field of a request"},
	{"NUL in a variable's value", func(s *spec) { s.Env[0].Value = "\x00" }, "env[0].value", "NUL"},
	{"unknown field in a variable's condition", func(s *spec) { s.Env[0].When.Set = []string{"x"} }, "env[0].when.set[0]", "is not a field of a request"},
	{"set variable with =", func(s *spec) { s.SetEnv["A=B"] = "c" }, "set_env.A=B", "not the name of a variable"},
	{"NUL in a set variable", func(s *spec) { s.SetEnv["A"] = "\x00" }, "set_env.A", "NUL"},
	{"reference in a set variable", func(s *spec) { s.SetEnv["A"] = "$HOME/.mine" }, "set_env.A", "is not a valid value: write"},
	{"reference after text in a set variable", func(s *spec) { s.SetEnv["A"] = "a:${B}" }, "set_env.A", "is not a valid value: write"},
	{"set variable that is dropped", func(s *spec) { s.SetEnv["MINE_SESSION"] = "a" }, "set_env.MINE_SESSION", "is removed by"},
	{"invalid passed variable", func(s *spec) { s.PassEnv[1] = "A*B" }, "pass_env[1]", "or a prefix"},
	{"wildcard as a passed variable", func(s *spec) { s.PassEnv[0] = "*" }, "pass_env[0]", "or a prefix"},
	{"pass rule without variables", func(s *spec) { s.PassEnvIf[0].Pass = nil }, "pass_env_if[0].pass", "is empty"},
	{"pass rule without a condition", func(s *spec) { s.PassEnvIf[0] = clispec.PassRule{Pass: []string{"A"}} }, "pass_env_if[0]", "is never true"},
	{"wildcard in a pass rule", func(s *spec) { s.PassEnvIf[0].Pass[0] = "*" }, "pass_env_if[0].pass[0]", "or a prefix"},
	{"wildcard in the variable of a condition", func(s *spec) { s.PassEnvIf[0].Env[0] = "USE_*" }, "pass_env_if[0].env[0]", "not the name of a variable"},
	{"relative path of a condition's file", func(s *spec) { s.PassEnvIf[0].Files[0].Path = "x" }, "pass_env_if[0].files[0].path", "must start with"},
	{"file in the working directory", func(s *spec) { s.PassEnvIf[0].Files[0].Path = "./x" }, "pass_env_if[0].files[0].path", "may be untrusted"},
	{"relative path to read for a cloud", func(s *spec) { s.PassEnvIf[0].Read = []string{"~/.cloud", "cloud"} }, "pass_env_if[0].read[1]", "must start with"},
	{"empty model prefix", func(s *spec) { s.PassEnvIf[0].Models[0] = "" }, "pass_env_if[0].models[0]", "is empty"},
	{"invalid dropped variable", func(s *spec) { s.DropEnv[0] = "A-B" }, "drop_env[0]", "or a prefix"},
}

func TestMalformedTables(t *testing.T) { requireMistakes(t, malformedTables) }

// requireMistakes checks that Validate finds each error and no other.
func requireMistakes(t *testing.T, table []malformed) {
	for _, test := range table {
		t.Run(test.name, func(t *testing.T) {
			s := sound()
			test.spoil(&s)
			err := s.Validate()
			require.Error(t, err)
			found, ok := errors.AsType[*multierror.Error](err)
			require.True(t, ok)
			require.Len(t, found.Errors, 1, "%v", err)
			mistake, ok := errors.AsType[*clispec.Error](err)
			require.True(t, ok)
			require.Equal(t, test.path, mistake.Path)
			require.Contains(t, mistake.Problem, test.problem)
			require.NotContains(t, err.Error(), "\n")
			require.Contains(t, err.Error(), mistake.Error())
		})
	}
}

func TestValidateReportsAllErrors(t *testing.T) {
	s := sound()
	var paths []string
	for _, test := range malformedTables {
		switch test.name {
		case "upper-case name", "relative binary", "unknown prompt style", "file in another directory", "unknown field in an argument",
			"variable with =", "invalid dropped variable":
			test.spoil(&s)
			paths = append(paths, test.path)
		}
	}
	for _, test := range malformedRules {
		switch test.name {
		case "invalid pattern of accepted models", "unknown event kind", "invalid line pattern", "unknown reason of an exit code":
			test.spoil(&s)
			paths = append(paths, test.path)
		}
	}
	require.Len(t, paths, 11)
	found, ok := errors.AsType[*multierror.Error](s.Validate())
	require.True(t, ok)
	var got []string
	for _, err := range found.Errors {
		mistake, ok := errors.AsType[*clispec.Error](err)
		require.True(t, ok)
		got = append(got, mistake.Path)
	}
	require.ElementsMatch(t, paths, got)
	require.True(t, strings.HasPrefix(s.Validate().Error(), `spec "Mine": name: "Mine" must be`), "%v", s.Validate())
}

// Without a row that passes the prompt, the CLI would answer a request without a prompt.
func TestValidateRequiresPrompt(t *testing.T) {
	spec := clispec.Spec{Name: "mine", Binary: "mine", Args: []clispec.ArgRow{{Args: []string{"-p"}}}}
	require.ErrorContains(t, spec.Validate(), "{prompt}")
	spec.Transports = []clispec.Transport{clispec.TransportStdin}
	require.NoError(t, spec.Validate())
}

func TestWhenVersions(t *testing.T) {
	when := clispec.When{Since: "2.1.0", Before: "v3.0.0"}
	for version, want := range map[string]bool{
		"2.0.9": false, "2.1.0-rc.1": false, "2.1.0": true, "2.10": true, "3.0.0-rc.1": true, "3.0.0": false, "3.0.0 (mine)": false, "": false,
	} {
		require.Equal(t, want, when.AppliesTo(version), "%q", version)
	}
	require.True(t, clispec.When{Since: "2.1.0"}.AppliesTo(""), "an empty version is the newest")
	require.True(t, clispec.When{}.AppliesTo("0.1"))
}
