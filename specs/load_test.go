package specs_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v4"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/specs"
)

const mineJSON = `{"name":"mine","binary":"mine"}`

func mine(change ...func(*clispec.Spec)) clispec.Spec {
	s := clispec.Spec{Name: "mine", Binary: "mine"}
	for _, f := range change {
		f(&s)
	}
	return s
}

func TestLoad(t *testing.T) {
	yours := clispec.Spec{Name: "yours", Binary: "yours", LingerMS: 7}
	both := []clispec.Spec{mine(), yours}
	for _, test := range []struct {
		name, file string
		want       []clispec.Spec
	}{
		{"object", `{"name": "mine", "binary": "mine"}`, []clispec.Spec{mine()}},
		{"array", `[{"name":"mine","binary":"mine"},{"name":"yours","binary":"yours","linger_ms":7}]`, both},
		{"array of one", "\n [" + mineJSON + "]\n\n", []clispec.Spec{mine()}},
		{"empty array", "[]", nil},
		{"specs under a key", `{"$schema":"x","specs":[` + mineJSON + `]}`, []clispec.Spec{mine()}},
		{"object with $schema", `{"$schema":"x","name":"mine","binary":"mine"}`, []clispec.Spec{mine()}},
		{"object with surrounding blanks", "\r\n\t" + mineJSON + "  \r\n", []clispec.Spec{mine()}},
		{"byte order mark", "\ufeff" + mineJSON, []clispec.Spec{mine()}},
		{"null fields", `{"name":"mine","binary":"mine","args":null,"checked_with":null}`, []clispec.Spec{mine()}},
		{"surrogates", `{"name":"mine","binary":"mine","checked_with":"\ud83d\ude00\/"}`, []clispec.Spec{mine(func(s *clispec.Spec) { s.CheckedWith = "😀/" })}},
		{"names of access levels", `{"name":"mine","binary":"mine","transports":["stdin"],"args":[{"args":["-x"],"when":{"access":["read","full"]}}]}`,
			[]clispec.Spec{mine(func(s *clispec.Spec) {
				s.Transports = []clispec.Transport{clispec.TransportStdin}
				s.Args = []clispec.ArgRow{{Args: []string{"-x"}, When: clispec.When{Access: []call.Access{call.AccessRead, call.AccessFull}}}}
			})}},

		{"YAML", "# mine\nname: mine\nbinary: mine\n", []clispec.Spec{mine()}},
		{"YAML list", "- {name: mine, binary: mine}\n- name: yours\n  binary: yours\n  linger_ms: 7\n", both},
		{"YAML under a key", "specs:\n- {name: mine, binary: mine}\n- {name: yours, binary: yours, linger_ms: 7}\n", both},
		{"YAML documents", "name: mine\nbinary: mine\n---\n# nothing\n---\n- {name: yours, binary: yours, linger_ms: 7}\n...\n", both},
		{"YAML with byte order mark and CRLF", "\ufeffname: mine\r\nbinary: mine\r\n", []clispec.Spec{mine()}},
		{"YAML in braces", "{name: mine, binary: mine,}", []clispec.Spec{mine()}},
		{"empty YAML fields", "name: mine\nbinary: mine\nargs:\nhints: ~\n", []clispec.Spec{mine()}},
		{"YAML scalars as text", "name: no\nbinary: off\nchecked_with: 1.10\ndefault_model: 0x1f\nalt_binaries: [2026-11-20, yes, 1_000, 012, .5]\n",
			[]clispec.Spec{{Name: "no", Binary: "off", CheckedWith: "1.10", DefaultModel: "0x1f", AltBinaries: []string{"2026-11-20", "yes", "1_000", "012", ".5"}}}},
		{"numeric keys", "name: mine\nbinary: mine\nexit_codes: {41: unauthenticated, \"42\": billing}\n",
			[]clispec.Spec{mine(func(s *clispec.Spec) {
				s.ExitCodes = map[int]call.Reason{41: call.ReasonUnauthenticated, 42: call.ReasonBilling}
			})}},
		{"patterns in YAML", "name: mine\nbinary: mine\nlines:\n- {pattern: '^\\d+ \"x\"$', reason: exit}\n- pattern: |-\n    a:\\sb\n  reason: exit\n",
			[]clispec.Spec{mine(func(s *clispec.Spec) {
				s.Lines = []clispec.LineRule{{Pattern: `^\d+ "x"$`, Reason: call.ReasonExit}, {Pattern: `a:\sb`, Reason: call.ReasonExit}}
			})}},
		{"YAML alias", "name: mine\nbinary: mine\npass_env: &vars [A, B_*]\ndrop_env: *vars\n",
			[]clispec.Spec{mine(func(s *clispec.Spec) { s.PassEnv, s.DropEnv = []string{"A", "B_*"}, []string{"A", "B_*"} })}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := specs.Load(strings.NewReader(test.file))
			require.NoError(t, err)
			require.Equal(t, test.want, got)
		})
	}
}

// Each case compares the whole error text.
func TestLoadErrors(t *testing.T) {
	const ok = mineJSON
	bomb := "a: &a [x, x, x, x, x, x, x, x, x, x]\n"
	for c := 'b'; c < 'i'; c++ {
		bomb += strings.ReplaceAll(string(c)+": &"+string(c)+" [*p, *p, *p, *p, *p, *p, *p, *p, *p, *p]\n", "*p", "*"+string(c-1))
	}
	for _, test := range []struct {
		name, file string
		want       string
	}{
		{"empty file", "", "the file is empty: it has no spec"},
		{"blank file", " \n\n", "the file is empty: it has no spec"},
		{"only a comment", "# nothing\n---\n", "the file is empty: it has no spec"},
		{"null document", "null", "the file is empty: it has no spec"},
		{"plain text", "\nmine", `line 2:1: is "mine", want a map`},
		{"scalar document", "7", `line 1:1: is "7", want a map`},
		{"specs with a scalar", "[7]", `line 1:2: specs[0]: is "7", want a map`},
		{"specs without a list", "specs: {a: b}\n", "line 1:8: specs: must be a list"},
		{"field beside specs", "name: mine\nspecs: []\n", "line 1:1: name: unknown field: only specs and $schema are valid"},
		{"duplicate specs key", "specs: []\nspecs: []\n", "line 2:1: specs: is set twice"},

		{"syntax error", "{\n  \"name\": \"mine\",\n  \"binary\" \"mine\"\n}", `line 3:12: invalid character '"' after object key`},
		{"truncated file", "{\n  \"name\": \"mine\",\n  \"binary\": \"mi", "line 3:15: unexpected end of JSON input"},
		{"two objects", ok + "\n" + ok, "line 2:1: invalid character '{' after top-level value"},
		{"trailing garbage", ok + "\n\n}", "line 3:1: invalid character '}' after top-level value"},
		{"indentation with a tab", "name: mine\nargs:\n\t- args: []\n", "line 3:1: tabs cannot indent: use spaces"},
		{"unterminated quote", "name: 'mine\nbinary: mine\n", "line 3:1: found unexpected end of stream while scanning a quoted scalar that begins at 1:7"},
		{"additional colon", "name: mine: yours\n", "line 1:11: mapping values are not allowed in this context"},
		{"unknown alias", "name: *mine\n", "line 1:7: unknown anchor 'mine' referenced"},
		{"UTF-16", "\xff\xfen\x00", "line 1:1: is not UTF-8: save the file as UTF-8"},
		{"Latin-1", "name: mine\nbinary: caf\xe9\n", "line 2:12: is not UTF-8: save the file as UTF-8"},

		{"nested aliases", bomb, "line 2:8: the file has more than 50000 values"},
		{"alias to itself", "name: mine\nargs: &a [*a]\n", "line 2:7: the file is nested deeper than 100 levels"},
		{"deeply nested JSON", strings.Repeat("[", 2000) + strings.Repeat("]", 2000), "line 1:102: the file is nested deeper than 100 levels"},
		{"deeply nested YAML", strings.Repeat("[", 2000) + "a: b" + strings.Repeat("]", 2000), "line 1:102: the file is nested deeper than 100 levels"},
		{"merge key", "name: mine\nbinary: mine\n<<: {linger_ms: 1}\n", "line 3:1: << is not supported: copy the fields of the other map"},
		{"list as a key", "? [a]\n: b\n", "line 1:3: a key must be a string"},
		{"tag", "name: !!binary bWluZQ==\nbinary: mine\n", "line 1:7: name: has the tag !!binary: remove the tag"},

		{"string instead of a number", "{\"name\":\"mine\",\"binary\":\"mine\",\n\"linger_ms\":\"7\"}", `line 2:13: linger_ms: is "7", want a whole number`},
		{"fraction", "name: mine\nbinary: mine\nlinger_ms: 7.5\n", `line 3:12: linger_ms: is "7.5", want a whole number in decimal digits`},
		{"number with a leading zero", "name: mine\nbinary: mine\nlinger_ms: 0100\n", `line 3:12: linger_ms: is "0100", want a whole number in decimal digits`},
		{"number out of range", "name: mine\nbinary: mine\nlinger_ms: 99999999999\n", "line 3:12: linger_ms: is out of range: 99999999999"},
		{"number above the limit", "name: mine\nbinary: mine\nlinger_ms: 60001\n", `line 3:12: linger_ms: "60001" must be 0 to 60000`},
		{"yes instead of true", "name: mine\nbinary: mine\nsessions: {dir_bound: yes}\n", `line 3:23: sessions.dir_bound: is "yes", want true or false`},
		{"number instead of a string", "[" + ok + ",\n{\"name\":\n7,\"binary\":\"b\"}]", `line 3:1: specs[1].name: is "7", want a string`},
		{"string instead of a list", `{"name":"mine","binary":"mine","args":[{"args":"-p"}]}`, `line 1:48: args[0].args: is "-p", want a list`},
		{"list instead of a map", "name: mine\nbinary: mine\nexit_codes: [exit]\n", "line 3:13: exit_codes: is a list, want a map"},
		{"list instead of an access level", "name: mine\nbinary: mine\nargs: [{args: ['{prompt}'], when: {access: [[read]]}}]\n", "line 3:45: args[0].when.access[0]: is a list, want a string"},
		{"tag in a list", "name: mine\nbinary: mine\npass_env: [!x A]\n", "line 3:12: pass_env[0]: has the tag !x: remove the tag"},
		{"list instead of a string", "name: [mine]\nbinary: mine\n", "line 1:7: name: is a list, want a string"},
		{"null in a list", "name: mine\nbinary: mine\nalt_binaries: [~]\n", "line 3:16: alt_binaries[0]: is nothing, want a string"},
		{"word instead of an exit code", "name: mine\nbinary: mine\nexit_codes: {x: exit}\n", `line 3:14: exit_codes: is "x", want a whole number in decimal digits`},
		{"duplicate key", "name: mine\nbinary: mine\nname: yours\n", "line 3:1: name: appears twice; the first is on line 1"},
		{"duplicate key in JSON", `{"name":"mine","binary":"mine","hints":{"exit":"a","exit":"b"}}`, "line 1:52: hints.exit: appears twice; the first is on line 1"},

		{"unknown field", "{\n\"name\":\"mine\",\n\"binry\":\"mine\"\n}", "line 3:1: binry: unknown field; did you mean binary?"},
		{"unknown nested field", "- name: mine\n  binary: mine\n  args:\n  - args: [\"{prompt}\"]\n    when: {acces: [read]}\n", "line 5:12: specs[0].args[0].when.acces: unknown field; did you mean access?"},
		{"field without a similar name", "name: mine\nbinary: mine\nmodels: {zzz: a}\n", "line 3:10: models.zzz: unknown field; the known fields are accept, aliases, choice_costs, list"},
		{"upper-case field", "Name: mine\nbinary: mine\n", "line 1:1: Name: unknown field; did you mean name?"},
		{"unknown access level", "name: mine\nbinary: mine\nargs: [{args: [\"{prompt}\"], when: {access: [root]}}]\n", `line 3:45: args[0].when.access[0]: "root" is none of ["none" "read" "write" "full"]`},

		{"duplicate names", "[" + ok + ",\n" + ok + "]", `line 2:9: specs[1].name: "mine" is the name of specs[0] already`},
		{"duplicate names in documents", "name: mine\nbinary: mine\n---\nname: mine\nbinary: mine\n", `line 4:7: specs[1].name: "mine" is the name of specs[0] already`},
		{"invalid spec", "[" + ok + ",\n{\"name\":\"yours\",\"binary\":\"yours\",\"answer\":\"x\"}]", `line 2:43: specs[1].answer: "x" is none of ["after_tools" "last_block"]`},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := specs.Load(strings.NewReader(test.file))
			require.EqualError(t, err, "specs: "+test.want)
			require.Nil(t, got)
		})
	}
}

// Load reports all errors of a file in its order, and returns no spec.
func TestLoadReportsAllErrors(t *testing.T) {
	got, err := specs.Load(strings.NewReader(`
- name: sound
  binary: sound
- name: Mine
  binray: mine
  linger_ms: soon
  args:
    - args: ["{promt}"]
      when: {set: model}
  lines:
    - {pattern: "(", reason: exit}
- binary: yours
`))
	require.Nil(t, got)
	require.EqualError(t, err, `specs: line 4:9: specs[1].name: "Mine" must be lower-case letters, digits, '-', '_' and '.', such as "claude"
line 5:3: specs[1].binray: unknown field; did you mean binary?
line 6:14: specs[1].linger_ms: is "soon", want a whole number
line 8:14: specs[1].args[0].args[0]: "promt" is not a field of a request or of a file; did you mean "prompt"?
line 9:19: specs[1].args[0].when.set: is "model", want a list
line 11:17: specs[1].lines[0].pattern: "(" is not a regular expression: missing closing ): `+"`(`"+`
line 12:3: specs[2].name: must be lower-case letters, digits, '-', '_' and '.', such as "claude"`)
	all, ok := errors.AsType[*specs.LoadError](err)
	require.True(t, ok)
	require.Len(t, all.Problems, 7)
	require.Equal(t, "specs[1].binray", all.Problems[1].Path)
	require.Equal(t, [2]int{5, 3}, [2]int{all.Problems[1].Line, all.Problems[1].Column})
}

func TestLoadFindsSpecErrors(t *testing.T) {
	_, err := specs.Load(strings.NewReader(`[{"name":"a","binary":"a","args":[{"args":["{promt}"]}]}]`))
	mistake, ok := errors.AsType[*clispec.Error](err)
	require.True(t, ok)
	require.Equal(t, "args[0].args[0]", mistake.Path)
	require.Equal(t, "promt", mistake.Value)
}

// An error has the right position even if keys contain dots and brackets.
func TestLoadErrorPositions(t *testing.T) {
	_, err := specs.Load(strings.NewReader(`name: mine
binary: mine
outputs: [json]
exit_codes:
  7: exit
  8: bang
events:
  - match:
      error: x
      error.code: "("
      "a.[0]": x
    kind: error
    set:
      txt: a
  - {match: {type: done}, kind: result, terminal: true}
`))
	require.ErrorContains(t, err, "line 6:6: exit_codes[8]: ")
	require.ErrorContains(t, err, "line 10:19: events[0].match.error.code: ")
	require.ErrorContains(t, err, "line 14:7: events[0].set: ")
}

func TestLoadIsBounded(t *testing.T) {
	const limit = 1 << 20
	file := []byte(mineJSON)
	fits := append(file, bytes.Repeat([]byte(" "), limit-len(file))...)
	_, err := specs.Load(bytes.NewReader(fits))
	require.NoError(t, err)
	_, err = specs.Load(bytes.NewReader(append(fits, ' ')))
	require.EqualError(t, err, "specs: the file is larger than 1048576 bytes")
}

func TestReportsAreBounded(t *testing.T) {
	_, err := specs.Load(strings.NewReader(strings.Repeat("-\n  x: y\n", 130)))
	all, ok := errors.AsType[*specs.LoadError](err)
	require.True(t, ok)
	require.Len(t, all.Problems, 101)
	require.Equal(t, "there are 30 more", all.Problems[100].Error())
	require.Equal(t, 200, all.Problems[99].Line)
}

func TestLoadReadError(t *testing.T) {
	broken := errors.New("disk on fire")
	_, err := specs.Load(iotest.ErrReader(broken))
	require.ErrorIs(t, err, broken)
}

func TestLoadRoundTrip(t *testing.T) {
	data, err := json.Marshal(specs.Every())
	require.NoError(t, err)
	got, err := specs.Load(bytes.NewReader(data))
	require.NoError(t, err)
	require.Equal(t, specs.Every(), got)

	var plain any
	require.NoError(t, json.Unmarshal(data, &plain))
	data, err = yaml.Marshal(plain)
	require.NoError(t, err)
	got, err = specs.Load(bytes.NewReader(data))
	require.NoError(t, err)
	require.Equal(t, specs.Every(), got)
}

// The example file of a built-in spec equals that spec, except for its name.
func TestExampleFileEqualsBuiltInSpec(t *testing.T) {
	file, err := os.Open("../docs/examples/qwen-code.yaml")
	require.NoError(t, err)
	defer file.Close()
	list, warnings, err := specs.Lint(file)
	require.NoError(t, err)
	require.Empty(t, warnings)
	require.Len(t, list, 1)
	require.Equal(t, "qwen-code", list[0].Name)
	list[0].Name = specs.Qwen().Name
	want, err := json.MarshalIndent(specs.Qwen(), "", "  ")
	require.NoError(t, err)
	got, err := json.MarshalIndent(list[0], "", "  ")
	require.NoError(t, err)
	require.Equal(t, string(want), string(got))
}

// Load returns only valid specs, and never panics.
func FuzzLoad(f *testing.F) {
	for _, seed := range []string{mineJSON, "[" + mineJSON + "]", "name: mine\nbinary: mine\n---\n- {name: a, binary: &a b, alt_binaries: [*a]}\n", "specs: [{exit_codes: {7: exit}}]", "a: &a [*a]", "? {}\n: - !!x y", "\ufeff\t{", "<<: *x"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := specs.Load(bytes.NewReader(data))
		if err != nil {
			require.Nil(t, list)
			require.NotEmpty(t, err.Error())
			return
		}
		for _, spec := range list {
			require.NoError(t, spec.Validate())
		}
	})
}
