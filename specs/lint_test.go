package specs_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/clichain/clichain/specs"
	"github.com/stretchr/testify/require"
)

// hinted is a spec without warnings.
const hinted = "name: mine\nbinary: mine\nhints: {not_installed: a, unauthenticated: b}\nconfine: {state: [{path: ~/.mine}]}\n"

// streaming is hinted with event rules, to which a test can append more rules.
const streaming = hinted + "outputs: [stream]\nevents:\n- {match: {type: end}, kind: result, terminal: true, set: {text: answer}}\n"

// looksLikeAKey is built at run time, so that scanners find no key in this file.
var looksLikeAKey = "sk-" + strings.Repeat("x1", 12)

func TestLint(t *testing.T) {
	for _, test := range []struct{ name, file, want string }{
		{"no warning", hinted, ""},
		{"no warning about events", streaming, ""},
		{"set and unset", hinted + "env: [{name: A, value: b, when: {set: [model], unset: [model]}}]\n", "line 5:56: env[0].when.unset[0]: is never true: model is set"},
		{"condition on a missing prompt", hinted + "preflight: [{when: {unset: [prompt]}, reason: exit, message: m}]\n", "line 5:29: preflight[0].when.unset[0]: is never true: prompt is set"},
		{"unused output in a condition", streaming + "env: [{name: A, value: b, when: {output: [json]}}]\n", `line 8:42: env[0].when.output: is never true: outputs has ["stream"]`},
		{"unused transport in a condition", hinted + "files: [{field: f, name: n, content: c, when: {transport: [stdin]}}]\nargs: [{args: [\"{f_file}\", \"{prompt}\"]}]\n", `line 5:59: files[0].when.transport: is never true: transports has ["argv"]`},
		{"version after the tested one", hinted + "checked_with: v2.1.0\nenv: [{name: A, value: b, when: {since: 2.1.1}}]\n", `line 6:41: env[0].when.since: is not true for the tested version: checked_with is "v2.1.0"`},
		{"conditions that include the tested version", hinted + "checked_with: 2.1.0\nenv: [{name: A, value: b, when: {since: 2.1.0}}, {name: A, value: c, when: {before: 2.1.0}}]\n", ""},
		{"upper-case field", hinted + "args: [{args: [\"{prompt}\", \"{Model}\"]}]\n", "line 5:8: args[0]: {Model} is not a field and is passed unchanged: fields are {name}, {name:json}, {name:text} and {name:list}, in lower case"},
		{"unknown format of a field", hinted + "args: [{args: [\"{prompt}{model:yaml}\"]}]\n", "line 5:8: args[0]: {model:yaml} is not a field and is passed unchanged: fields are {name}, {name:json}, {name:text} and {name:list}, in lower case"},
		{"JSON in an argument", hinted + "args: [{args: [\"{prompt}\", '{\"a\": {\"b\": {}}}', \"{prompt:json}\"]}]\n", ""},
		{"each without its value", hinted + "args: [{args: [-x], each: allowed_tools}, {args: [\"{prompt}\"]}]\n", "line 5:27: args[0].each: repeats the same arguments: none has {allowed_tools}"},
		{"prompt in both transports", hinted + "transports: [stdin, argv]\nargs: [{args: [\"{prompt}\"]}]\n", "line 6:8: args[0]: passes the prompt in addition to stdin: add when: {transport: [argv]}"},
		{"prompt in one transport", hinted + "transports: [stdin, argv]\nargs: [{args: [\"{prompt}\"], when: {transport: [argv]}}]\n", ""},
		{"unused file", hinted + "files: [{field: f, name: n, content: c}]\n", "line 5:9: files[0]: is never used: no row has {f_file} or {temp}"},
		{"passed and dropped variable", hinted + "pass_env: [A, B]\ndrop_env: [B]\n", "line 5:15: pass_env[1]: is not passed: drop_env lists it too"},
		{"events without an output for them", hinted + "events: [{match: {a: b}, kind: text}]\n", "line 5:9: events: are not used: outputs has neither stream nor json"},

		{"rule hidden by a last rule", strings.Replace(streaming, "terminal: true,", "terminal: true, last: true,", 1) + "- {match: {type: end, ok: x}, kind: usage}\n", "line 8:3: events[1]: never applies: events[0] is last and matches every value that this rule matches"},
		{"rule next to a last rule", strings.Replace(streaming, "terminal: true,", "terminal: true, last: true,", 1) + "- {match: {ok: x}, kind: usage}\n", ""},
		{"alternative after a literal", strings.Replace(streaming, "{text: answer}", "{text: a ?? =b ?? c}", 1), `line 7:66: events[0].set.text: "c" is never reached: "=b" before it always has a value`},
		{"path that looks like a value", strings.Replace(streaming, "{text: answer}", "{text: a, failed: true}", 1), `line 7:77: events[0].set.failed: "true" is the path of a field with that name: for the text write "=true"`},
		{"terminal error without a result", strings.Replace(streaming, "kind: result, terminal: true", "kind: error, terminal: true", 1) + "- {match: {a: b}, kind: delta, set: {text: t}}\n", "line 7:1: events: no result is terminal, so a stream or json run could never succeed"},
		{"no rule for the text", strings.Replace(streaming, "text: answer", "code: answer", 1), "line 7:1: events: no delta, text or result sets text, so there is never an answer"},
		{"tool events without tool_events", streaming + "- {match: {type: tool}, kind: tool_use}\n", "line 1:1: tool_events: is not set: with write access, every failure counts as if a tool had been used"},
		{"tool events with tool_events", streaming + "- {match: {type: tool}, kind: tool_use}\ntool_events: end\n", ""},

		{"status rule on stdout", hinted + "lines: [{pattern: x, kind: status, on: [stdout]}]\n", "line 5:40: lines[0].on: never matches: rules of the kind status read stderr only"},
		{"fatal rule on stdout", hinted + "lines: [{pattern: x, reason: exit, fatal: true, on: [stdout]}]\n", "line 5:43: lines[0].fatal: has no effect: only a line of stderr can be fatal"},
		{"event line rule without events", hinted + "lines: [{pattern: x, reason: exit, on: [event]}]\n", "line 5:40: lines[0].on: never matches: outputs has neither stream nor json, so there are no events"},
		{"repeated pattern", hinted + "lines: [{pattern: x, reason: exit}, {pattern: x, reason: billing, on: [stderr]}]\n", "line 5:47: lines[1].pattern: never applies: lines[0] has the same pattern"},
		{"repeated pattern for one source", hinted + "lines: [{pattern: x, reason: exit, on: [stdout, stderr]}, {pattern: x, reason: billing, on: [stderr]}]\n", "line 5:69: lines[1].pattern: never applies: lines[0] has the same pattern"},
		{"repeated pattern for another source", hinted + "lines: [{pattern: x, reason: exit, on: [stdout]}, {pattern: x, reason: billing}]\n", ""},
		{"secret recognized by its name", hinted + "set_env: {MINE_TOKEN: nine-words-of-a-test}\n", "line 5:23: set_env.MINE_TOKEN: looks like a secret: keep it in an environment variable, and write ${ITS_NAME} in set_env"},
		{"secret recognized by its shape", hinted + "set_env: {MINE: " + looksLikeAKey + "}\n", "line 5:17: set_env.MINE: looks like a secret: keep it in an environment variable, and write ${ITS_NAME} in set_env"},
		{"secret in an environment row", hinted + "env: [{name: A, value: " + looksLikeAKey + "}]\n", "line 5:24: env[0].value: looks like a secret: keep it in an environment variable, and write ${ITS_NAME} in set_env"},
		{"no secrets", hinted + "set_env: {MINE_TOKEN: \"${OTHER_TOKEN}\", MINE_KEY_FILE: ~/keys/mine, MINE_AUTH_DIR: /opt/mine/auth, A_TOKEN: \"\"}\nenv: [{name: GIT_CONFIG_KEY_0, value: core.fsmonitor}]\n", ""},
		{"no state", "name: mine\nbinary: mine\nhints: {not_installed: a, unauthenticated: b}\nconfine: {read: [/etc/mine]}\n", "line 4:10: confine.state: is missing, so the kernel does not confine the CLI: list the files and directories that it keeps"},
		{"no hints", "name: mine\nbinary: mine\nhints: {not_installed: a}\nconfine: {state: [{path: ~/.mine}]}\n", "line 3:8: hints: is missing for unauthenticated: tell users how to install the CLI and how to log in"},
		{"two missing hints", "- " + strings.ReplaceAll(hinted, "\n", "\n  ") + "\n- name: a\n  binary: a\n  confine: {state: [{path: ~/.a}]}\n", "line 6:3: specs[1].hints: is missing for not_installed and unauthenticated: tell users how to install the CLI and how to log in"},
	} {
		t.Run(test.name, func(t *testing.T) {
			list, problems, err := specs.Lint(strings.NewReader(test.file))
			require.NoError(t, err)
			require.NotEmpty(t, list)
			var got []string
			for _, p := range problems {
				require.True(t, p.Warning)
				got = append(got, p.Error())
			}
			require.Equal(t, test.want, strings.Join(got, "\n"))
			_, err = specs.Load(strings.NewReader(test.file))
			require.NoError(t, err, "a warning is no error")
		})
	}
}

func TestLintReportsErrors(t *testing.T) {
	list, problems, err := specs.Lint(strings.NewReader("name: mine\nbinary: mine\nargs: []\nlinger: 1\n"))
	require.NoError(t, err)
	require.Nil(t, list)
	require.Len(t, problems, 1, "a file with errors has no warnings")
	require.False(t, problems[0].Warning)
	require.Equal(t, "linger", problems[0].Path)
	_, _, err = specs.Lint(iotest.ErrReader(bytes.ErrTooLarge))
	require.ErrorIs(t, err, bytes.ErrTooLarge)
}

// Lint limits the number of warnings, and a file with many warnings is still valid.
func TestLintIsBounded(t *testing.T) {
	many := hinted + "pass_env: [" + strings.Repeat("A, ", 130) + "]\ndrop_env: [A]\n"
	list, problems, err := specs.Lint(strings.NewReader(many))
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.Len(t, problems, 101)
	require.Equal(t, &specs.Problem{Message: "there are 30 more", Warning: true}, problems[100])
}

// The built-in specs serve as examples, and therefore have no warnings.
func TestBuiltInSpecsLint(t *testing.T) {
	data, err := json.Marshal(specs.Every())
	require.NoError(t, err)
	_, problems, err := specs.Lint(bytes.NewReader(data))
	require.NoError(t, err)
	for _, p := range problems {
		t.Error(p)
	}
}
