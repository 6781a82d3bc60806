package failover_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/internal/chaintest"
	"github.com/clichain/clichain/internal/specfile"
	"github.com/clichain/clichain/specs"
)

const mineYAML = "name: mine\nbinary: mine\n"

// malformedSpecs are files with one mistake each, and the complete error.
var malformedSpecs = []struct{ name, file, want string }{
	{"no name", "binary: mine\n", `line 1:1: name: must be lower-case letters, digits, '-', '_' and '.', such as "claude"`},
	{"a name with a colon", "name: my:cli\nbinary: mine\n", `line 1:7: name: "my:cli" must be lower-case letters, digits, '-', '_' and '.', such as "claude"`},
	{"no program", "name: mine\n", "line 1:1: binary: is missing: give the program's name or absolute path"},
	{"a program in a folder", "name: mine\nbinary: ./bin/mine\n", `line 2:9: binary: "./bin/mine" must be a bare name or an absolute path`},
	{"an empty other program", mineYAML + "alt_binaries: ['']\n", "line 3:16: alt_binaries[0]: must be a bare name or an absolute path"},
	{"a slug with a slash", mineYAML + "provider_slug: mine/cli\n", `line 3:16: provider_slug: "mine/cli" must be letters, digits, '-', '_' and '.', such as "anthropic-cli"`},
	{"a style that is none", mineYAML + "prompt_style: dash-p\n", `line 3:15: prompt_style: "dash-p" is none of ["dash_p" "run_subcommand"]; did you mean "dash_p"?`},
	{"a flag with NUL", mineYAML + "system_flag: \"-s\\0\"\n", `line 3:14: system_flag: "-s\x00" contains a NUL byte`},
	{"a system text with NUL", mineYAML + "system_default: \"a\\0b\"\n", `line 3:17: system_default: "a\x00b" contains a NUL byte`},
	{"an answer that is none", mineYAML + "answer: last-block\n", `line 3:9: answer: "last-block" is none of ["after_tools" "last_block"]; did you mean "last_block"?`},
	{"an output that is none", mineYAML + "outputs: [text, xml]\n", `line 3:17: outputs[1]: "xml" is none of ["stream" "json" "text"]`},
	{"an empty output", mineYAML + "outputs: ['']\n", `line 3:11: outputs[0]: is empty: write one of ["stream" "json" "text"]`},
	{"a transport that is none", mineYAML + "transports: [stdio]\n", `line 3:14: transports[0]: "stdio" is none of ["stdin" "argv"]; did you mean "stdin"?`},
	{"a linger time out of range", mineYAML + "linger_ms: -1\n", `line 3:12: linger_ms: "-1" must be 0 to 60000`},
	{"a stream without an end", mineYAML + "outputs: [stream]\nevents:\n- {match: {type: text}, kind: text}\n", "line 5:1: events: no rule is terminal, so a stream or json run could never succeed"},
	{"no way for the prompt", mineYAML + "args: [{args: [-p]}]\n", "line 3:7: args: no row has {prompt}, so the prompt would never reach the CLI"},
	{"a row without arguments", mineYAML + "args: [{when: {set: [model]}}, {args: ['{prompt}']}]\n", "line 3:8: args[0].args: is empty: list the arguments of this row"},
	{"a misspelt field", mineYAML + "args: [{args: ['{prompt}', '{modle}']}]\n", `line 3:28: args[0].args[1]: "modle" is not a field of a request or of a file; did you mean "model"?`},
	{"a file that is not there", mineYAML + "args: [{args: ['{prompt}', '{system_file}']}]\n", `line 3:28: args[0].args[1]: "system_file" is not a field of a request or of a file; use one of FIELDS`},
	{"a field to repeat that is none", mineYAML + "args: [{args: ['{prompt}'], each: tools}]\n", `line 3:35: args[0].each: "tools" is not a field of a request or of a file; use one of FIELDS`},
	{"a condition on no field", mineYAML + "args: [{args: ['{prompt}'], when: {set: [dirs]}}]\n", `line 3:42: args[0].when.set[0]: "dirs" is not a field of a request or of a file; did you mean "dir"?`},
	{"a condition on no variable", mineYAML + "args: [{args: ['{prompt}'], when: {env: [A-B]}}]\n", `line 3:42: args[0].when.env[0]: "A-B" is not the name of a variable`},
	{"a condition on no output", mineYAML + "args: [{args: ['{prompt}'], when: {output: [txt]}}]\n", `line 3:45: args[0].when.output[0]: "txt" is none of ["stream" "json" "text" "live"]; did you mean "text"?`},
	{"a variable without a name", mineYAML + "env: [{value: x}]\n", "line 3:7: env[0].name: is not the name of a variable"},
	{"a passed variable", mineYAML + "pass_env: [MINE_*, '*_KEY']\n", `line 3:20: pass_env[1]: "*_KEY" is not the name of a variable or a prefix with a trailing '*'`},
	{"a dropped variable", mineYAML + "drop_env: ['']\n", "line 3:12: drop_env[0]: is not the name of a variable or a prefix with a trailing '*'"},
	{"a file elsewhere", mineYAML + "files: [{field: system, name: ../system.md, content: '{system}'}]\n", `line 3:31: files[0].name: "../system.md" must be a bare file name`},
	{"a file's field in capitals", mineYAML + "files: [{field: System, name: s, content: '{system}'}]\n", `line 3:17: files[0].field: "System" must be lower-case letters, digits and '_'`},
	{"a file twice", mineYAML + "files: [{field: a, name: s, content: a}, {field: b, name: s, content: b}]\n", `line 3:59: files[1].name: "s" is also the name of files[0], which would be overwritten`},
	{"a file in the place of the empty directory", mineYAML + "files: [{field: a, name: empty, content: a}]\n", `line 3:26: files[0].name: "empty" is the name of the empty directory: choose another`},
	{"a guard without a prefix", mineYAML + "guards: [{pattern: '^/'}]\n", "line 3:10: guards[0].prefix: is missing: give the text to add before the prompt"},
	{"a guard without a pattern", mineYAML + "guards: [{prefix: \"\\n\"}]\n", "line 3:10: guards[0].pattern: is missing: say which prompts need the prefix"},
	{"a model's pattern", mineYAML + "models: {accept: ['^mine-', '*']}\n", "line 3:29: models.accept[1]: \"*\" is not a regular expression: missing argument to repetition operator: `*`"},
	{"an empty pattern of models", mineYAML + "models: {accept: ['']}\n", "line 3:19: models.accept[0]: is empty: omit accept to accept every name"},
	{"an alias that does nothing", mineYAML + "models: {aliases: {default: m-1}}\n", `line 3:20: models.aliases: "default" lets the CLI choose the model: use another name`},
	{"an alias for nothing", mineYAML + "models: {aliases: {small: ''}}\n", `line 3:20: models.aliases: "small" has no model: give both names`},
	{"a preflight without a reason", mineYAML + "preflight: [{root: true, message: no}]\n", "line 3:13: preflight[0].reason: is missing; docs/reference/errors.md lists the reasons"},
	{"a preflight without a message", mineYAML + "preflight: [{root: true, reason: permission_refused}]\n", "line 3:13: preflight[0].message: is missing: say what the CLI would refuse"},
	{"a preflight's variable", mineYAML + "preflight: [{unless_env: [A=B], reason: permission_refused, message: no}]\n", `line 3:27: preflight[0].unless_env[0]: "A=B" is not the name of a variable`},
	{"a rule for every line", mineYAML + "events: [{kind: text}]\n", "line 3:10: events[0].match: is empty: the rule would match every line"},
	{"a kind that is none", mineYAML + "events: [{match: {a: b}, kind: tooluse}]\n", `line 3:32: events[0].kind: "tooluse" is none of KINDS; did you mean "tool_use"?`},
	{"no kind", mineYAML + "events: [{match: {a: b}}]\n", "line 3:10: events[0].kind: is empty: write one of KINDS"},
	{"the library's own kind", mineYAML + "events: [{match: {a: b}, kind: done}]\n", `line 3:32: events[0].kind: "done" is none of KINDS`},
	{"an event's field", mineYAML + "events: [{match: {a: b}, kind: text, set: {txt: a}}]\n", `line 3:44: events[0].set: "txt" is not a field of an event; did you mean "text"?`},
	{"an element without a list", mineYAML + "events: [{match: {'@.a': b}, kind: text}]\n", `line 3:19: events[0].match: "@.a" starts at an element, but the rule has no each`},
	{"a list in an element", mineYAML + "events: [{match: {a: b}, each: '@.list', kind: text}]\n", `line 3:32: events[0].each: "@.list" is the path of the list: it cannot start at an element`},
	{"an empty alternative", mineYAML + "events: [{match: {a: b}, kind: text, set: {text: 'a ?? '}}]\n", `line 3:50: events[0].set.text: is not a path: give the path of a value, such as "error.message"`},
	{"a terminal text", mineYAML + "events: [{match: {a: b}, kind: text, terminal: true}]\n", `line 3:48: events[0].terminal: "text" cannot be terminal: only result and error can`},
	{"a pattern in a rule", mineYAML + "events: [{match: {a: '[', c: d}, kind: text}]\n", "line 3:22: events[0].match.a: \"[\" is not a regular expression: missing closing ]: `[`"},
	{"a line's pattern", mineYAML + "lines: [{pattern: '(?<reset>', reason: exit}]\n", "line 3:19: lines[0].pattern: \"(?<reset>\" is not a regular expression: missing closing ): `(?<reset>`"},
	{"a line's pattern for everything", mineYAML + "lines: [{pattern: '.*', reason: exit}]\n", `line 3:19: lines[0].pattern: ".*" matches the empty line, and therefore every line`},
	{"a group without a meaning", mineYAML + "lines: [{pattern: '(?P<resets>a)', reason: exit}]\n", `line 3:19: lines[0].pattern: "resets" is not a known group; use one of ["status" "attempt" "message" "reset" "delay" "variable" "session"]`},
	{"a line without a reason", mineYAML + "lines: [{pattern: a}]\n", "line 3:9: lines[0].reason: is missing, and the pattern has no group status or message"},
	{"a line's reason", mineYAML + "lines: [{pattern: a, reason: ratelimited}]\n", `line 3:30: lines[0].reason: "ratelimited" is not a reason; did you mean "rate_limited"?`},
	{"a line's kind", mineYAML + "lines: [{pattern: a, reason: exit, kind: text}]\n", `line 3:42: lines[0].kind: "text" is none of ["error" "retry" "warning" "status"]`},
	{"a place that is none", mineYAML + "lines: [{pattern: a, reason: exit, on: [stderr, '']}]\n", `line 3:49: lines[0].on[1]: is empty: write one of ["event" "stderr" "stdout"]`},
	{"an exit status out of range", mineYAML + "exit_codes: {256: exit}\n", `line 3:14: exit_codes: "256" must be 1 to 255`},
	{"an exit status without a reason", mineYAML + "exit_codes: {41: login}\n", `line 3:18: exit_codes[41]: "login" is not a reason; docs/reference/errors.md lists them`},
	{"a hint for no reason", mineYAML + "hints: {log_in: run mine login}\n", `line 3:9: hints: "log_in" is not a reason; docs/reference/errors.md lists them`},
}

// A file error says what is wrong and where. A provider made from such a spec starts nothing.
func TestMalformedSpecs(t *testing.T) {
	t.Parallel()
	lists := strings.NewReplacer("KINDS", fmt.Sprintf("%q", clispec.RuleKinds), "FIELDS", strings.Join(clispec.Fields, ", "))
	record := filepath.Join(t.TempDir(), "record")
	fake := clitest.Fake(t, "mine", chaintest.Play(clitest.Step{Record: record}, chaintest.Stdout("hi")))
	for _, test := range malformedSpecs {
		t.Run(test.name, func(t *testing.T) {
			list, err := specs.Load(strings.NewReader(test.file))
			require.EqualError(t, err, "specs: "+lists.Replace(test.want))
			require.Nil(t, list)

			p := clichain.NewProvider(unchecked(t, test.file), &clichain.Config{Binary: fake})
			_, err = p.Complete(t.Context(), clichain.Prompt("hi"))
			chaintest.RequireReason(t, clichain.ReasonBadOption, err)
			require.ErrorAs(t, err, new(*clispec.Error))
			require.NoFileExists(t, record)
		})
	}
	require.Greater(t, len(malformedSpecs), 50)
	_, err := clichain.NewProvider(unchecked(t, mineYAML), &clichain.Config{Binary: fake}).Complete(t.Context(), clichain.Prompt("hi"))
	require.NoError(t, err)
	require.FileExists(t, record, "a sound spec starts the fake")
}

// unchecked reads a spec as Load does, without Validate.
func unchecked(t *testing.T, file string) (spec clichain.CliSpec) {
	t.Helper()
	documents, mistakes := specfile.Parse([]byte(file))
	require.Empty(t, mistakes)
	require.Len(t, documents, 1)
	require.Empty(t, specfile.Decode(documents[0], "", &spec))
	return spec
}

// Every kind of event either has rules or is made by the library.
func TestRuleKindsAreAll(t *testing.T) {
	t.Parallel()
	own := []string{"raw", "start", "attempt", "done", "state"}
	var kinds []string
	for _, kind := range clispec.RuleKinds {
		kinds = append(kinds, string(kind))
	}
	require.ElementsMatch(t, chaintest.EventKinds(t), append(kinds, own...))
}
