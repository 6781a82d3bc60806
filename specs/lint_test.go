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

// hinted is a spec that nothing can be said against.
const hinted = "name: mine\nbinary: mine\nhints: {not_installed: a, unauthenticated: b}\n"

// streaming is hinted with rules for events; more may follow.
const streaming = hinted + "outputs: [stream]\nevents:\n- {match: {type: end}, kind: result, terminal: true, set: {text: answer}}\n"

// looksLikeAKey is made here, so that no file holds one.
var looksLikeAKey = "sk-" + strings.Repeat("x1", 12)

func TestLint(t *testing.T) {
	for _, test := range []struct{ name, file, want string }{
		{"nothing", hinted, ""},
		{"no events amiss", streaming, ""},
		{"set and unset", hinted + "env: [{name: A, value: b, when: {set: [model], unset: [model]}}]\n", "line 4:56: env[0].when.unset[0]: is never true: model is set"},
		{"a request without a prompt", hinted + "preflight: [{when: {unset: [prompt]}, reason: exit, message: m}]\n", "line 4:29: preflight[0].when.unset[0]: is never true: prompt is set"},
		{"an output that is none", streaming + "env: [{name: A, value: b, when: {output: [json]}}]\n", `line 7:42: env[0].when.output: is never true: outputs has ["stream"]`},
		{"a transport that is none", hinted + "files: [{field: f, name: n, content: c, when: {transport: [stdin]}}]\nargs: [{args: [\"{f_file}\", \"{prompt}\"]}]\n", `line 4:59: files[0].when.transport: is never true: transports has ["argv"]`},
		{"a version of tomorrow", hinted + "checked_with: v2.1.0\nenv: [{name: A, value: b, when: {since: 2.1.1}}]\n", `line 5:41: env[0].when.since: is not true for the tested version: checked_with is "v2.1.0"`},
		{"versions of today", hinted + "checked_with: 2.1.0\nenv: [{name: A, value: b, when: {since: 2.1.0}}, {name: A, value: c, when: {before: 2.1.0}}]\n", ""},
		{"a field in capitals", hinted + "args: [{args: [\"{prompt}\", \"{Model}\"]}]\n", "line 4:8: args[0]: {Model} is not a field and is passed unchanged: fields are {name}, {name:json}, {name:text} and {name:list}, in lower case"},
		{"a form that is none", hinted + "args: [{args: [\"{prompt}{model:yaml}\"]}]\n", "line 4:8: args[0]: {model:yaml} is not a field and is passed unchanged: fields are {name}, {name:json}, {name:text} and {name:list}, in lower case"},
		{"JSON in an argument", hinted + "args: [{args: [\"{prompt}\", '{\"a\": {\"b\": {}}}', \"{prompt:json}\"]}]\n", ""},
		{"the same each time", hinted + "args: [{args: [-x], each: allowed_tools}, {args: [\"{prompt}\"]}]\n", "line 4:27: args[0].each: repeats the same arguments: none has {allowed_tools}"},
		{"the prompt twice", hinted + "transports: [stdin, argv]\nargs: [{args: [\"{prompt}\"]}]\n", "line 5:8: args[0]: passes the prompt in addition to stdin: add when: {transport: [argv]}"},
		{"the prompt once", hinted + "transports: [stdin, argv]\nargs: [{args: [\"{prompt}\"], when: {transport: [argv]}}]\n", ""},
		{"a file nobody reads", hinted + "files: [{field: f, name: n, content: c}]\n", "line 4:9: files[0]: is never used: no row has {f_file} or {temp}"},
		{"passed and dropped", hinted + "pass_env: [A, B]\ndrop_env: [B]\n", "line 4:15: pass_env[1]: is not passed: drop_env lists it too"},
		{"events of a text", hinted + "events: [{match: {a: b}, kind: text}]\n", "line 4:9: events: are not used: outputs has neither stream nor json"},

		{"a rule behind the last", strings.Replace(streaming, "terminal: true,", "terminal: true, last: true,", 1) + "- {match: {type: end, ok: x}, kind: usage}\n", "line 7:3: events[1]: never applies: events[0] is last and matches every value that this rule matches"},
		{"a rule beside the last", strings.Replace(streaming, "terminal: true,", "terminal: true, last: true,", 1) + "- {match: {ok: x}, kind: usage}\n", ""},
		{"a value behind a literal", strings.Replace(streaming, "{text: answer}", "{text: a ?? =b ?? c}", 1), `line 6:66: events[0].set.text: "c" is never reached: "=b" before it always has a value`},
		{"a path like a value", strings.Replace(streaming, "{text: answer}", "{text: a, failed: true}", 1), `line 6:77: events[0].set.failed: "true" is the path of a field with that name: for the text write "=true"`},
		{"an end that is no result", strings.Replace(streaming, "kind: result, terminal: true", "kind: error, terminal: true", 1) + "- {match: {a: b}, kind: delta, set: {text: t}}\n", "line 6:1: events: no result is terminal, so a stream or json run could never succeed"},
		{"no text", strings.Replace(streaming, "text: answer", "code: answer", 1), "line 6:1: events: no delta, text or result sets text, so there is never an answer"},
		{"tools at an unknown time", streaming + "- {match: {type: tool}, kind: tool_use}\n", "line 1:1: tool_events: is not set: with write access, every failure counts as if a tool had been used"},
		{"tools at a known time", streaming + "- {match: {type: tool}, kind: tool_use}\ntool_events: end\n", ""},

		{"a status of stdout", hinted + "lines: [{pattern: x, kind: status, on: [stdout]}]\n", "line 4:40: lines[0].on: never matches: rules of the kind status read stderr only"},
		{"fatal on stdout", hinted + "lines: [{pattern: x, reason: exit, fatal: true, on: [stdout]}]\n", "line 4:43: lines[0].fatal: has no effect: only a line of stderr can be fatal"},
		{"events without events", hinted + "lines: [{pattern: x, reason: exit, on: [event]}]\n", "line 4:40: lines[0].on: never matches: outputs has neither stream nor json, so there are no events"},
		{"a pattern again", hinted + "lines: [{pattern: x, reason: exit}, {pattern: x, reason: billing, on: [stderr]}]\n", "line 4:47: lines[1].pattern: never applies: lines[0] has the same pattern"},
		{"a pattern again in one place", hinted + "lines: [{pattern: x, reason: exit, on: [stdout, stderr]}, {pattern: x, reason: billing, on: [stderr]}]\n", "line 4:69: lines[1].pattern: never applies: lines[0] has the same pattern"},
		{"a pattern elsewhere", hinted + "lines: [{pattern: x, reason: exit, on: [stdout]}, {pattern: x, reason: billing}]\n", ""},
		{"a secret by its name", hinted + "set_env: {MINE_TOKEN: nine-words-of-a-test}\n", "line 4:23: set_env.MINE_TOKEN: looks like a secret: keep it in a variable of your own, and write ${ITS_NAME} in set_env"},
		{"a secret by its shape", hinted + "set_env: {MINE: " + looksLikeAKey + "}\n", "line 4:17: set_env.MINE: looks like a secret: keep it in a variable of your own, and write ${ITS_NAME} in set_env"},
		{"a secret in a row", hinted + "env: [{name: A, value: " + looksLikeAKey + "}]\n", "line 4:24: env[0].value: looks like a secret: keep it in a variable of your own, and write ${ITS_NAME} in set_env"},
		{"no secrets", hinted + "set_env: {MINE_TOKEN: \"${OTHER_TOKEN}\", MINE_KEY_FILE: ~/keys/mine, MINE_AUTH_DIR: /opt/mine/auth, A_TOKEN: \"\"}\nenv: [{name: GIT_CONFIG_KEY_0, value: core.fsmonitor}]\n", ""},
		{"no hints", "name: mine\nbinary: mine\nhints: {not_installed: a}\n", "line 3:8: hints: is missing for unauthenticated: tell users how to install the CLI and how to log in"},
		{"none of two", "- " + strings.ReplaceAll(hinted, "\n", "\n  ") + "\n- name: a\n  binary: a\n", "line 5:3: specs[1].hints: is missing for not_installed and unauthenticated: tell users how to install the CLI and how to log in"},
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
			require.NoError(t, err, "a warning is no mistake")
		})
	}
}

func TestLintTellsMistakes(t *testing.T) {
	list, problems, err := specs.Lint(strings.NewReader("name: mine\nbinary: mine\nargs: []\nlinger: 1\n"))
	require.NoError(t, err)
	require.Nil(t, list)
	require.Len(t, problems, 1, "warnings have to wait")
	require.False(t, problems[0].Warning)
	require.Equal(t, "linger", problems[0].Path)
	_, _, err = specs.Lint(iotest.ErrReader(bytes.ErrTooLarge))
	require.ErrorIs(t, err, bytes.ErrTooLarge)
}

// However many warnings there are, they are no mistakes.
func TestLintIsBounded(t *testing.T) {
	many := hinted + "pass_env: [" + strings.Repeat("A, ", 130) + "]\ndrop_env: [A]\n"
	list, problems, err := specs.Lint(strings.NewReader(many))
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.Len(t, problems, 101)
	require.Equal(t, &specs.Problem{Message: "there are 30 more", Warning: true}, problems[100])
}

// The built-in specs are examples: there is nothing suspicious in them.
func TestBuiltInSpecsLint(t *testing.T) {
	data, err := json.Marshal(specs.Every())
	require.NoError(t, err)
	_, problems, err := specs.Lint(bytes.NewReader(data))
	require.NoError(t, err)
	for _, p := range problems {
		t.Error(p)
	}
}
