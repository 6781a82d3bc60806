package specs_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/specs"
)

// An instance equals its base, except for the fields that its entry sets.
func TestLoadInstances(t *testing.T) {
	work := specs.Claude()
	work.Name, work.InstanceOf, work.SetEnv = "claude-work", "claude", map[string]string{"CLAUDE_CONFIG_DIR": "~/.claude-work"}
	quick := work
	quick.DefaultModel, quick.LingerMS, quick.PassEnv = "quick", 7, []string{"A"}
	changed := specs.Claude()
	changed.InstanceOf, changed.Binary = "claude", "my-claude"
	own := mine(func(s *clispec.Spec) { s.LingerMS = 9 })
	second := own
	second.Name, second.InstanceOf = "second", "mine"
	for _, test := range []struct {
		name, file string
		want       []clispec.Spec
	}{
		{"JSON", `{"instance_of":"claude","name":"claude-work","set_env":{"CLAUDE_CONFIG_DIR":"~/.claude-work"}}`, []clispec.Spec{work}},
		{"YAML", "instance_of: claude\nname: claude-work\nset_env: {CLAUDE_CONFIG_DIR: ~/.claude-work}\n", []clispec.Spec{work}},
		{"instance with more fields", "instance_of: claude\nname: claude-work\nset_env: {CLAUDE_CONFIG_DIR: ~/.claude-work}\ndefault_model: quick\nlinger_ms: 7\npass_env: [A]\nhints:\n",
			[]clispec.Spec{quick}},
		{"instance with the name of its base", "instance_of: claude\nname: claude\nbinary: my-claude\n", []clispec.Spec{changed}},
		{"instance of an earlier spec", "- {name: mine, binary: mine, linger_ms: 9}\n- {instance_of: mine, name: second}\n", []clispec.Spec{own, second}},
		{"empty instance_of", "instance_of:\nname: mine\nbinary: mine\nlinger_ms: 9\n", []clispec.Spec{own}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := specs.Load(strings.NewReader(test.file))
			require.NoError(t, err)
			require.Equal(t, test.want, got)
			data, err := json.Marshal(got)
			require.NoError(t, err)
			again, err := specs.Load(strings.NewReader(string(data)))
			require.NoError(t, err, "the encoded specs can be loaded")
			require.Equal(t, test.want, again)
		})
	}
}

func TestLoadInstanceErrors(t *testing.T) {
	for _, test := range []struct{ name, file, want string }{
		{"instance of an unknown spec", "instance_of: cluade\nname: work\n", `line 1:14: instance_of: "cluade" is not a built-in spec or an earlier spec of the file; did you mean "claude"?`},
		{"instance of a later spec", "- {instance_of: mine, name: a}\n- {name: mine, binary: mine}\n", `line 1:17: specs[0].instance_of: "mine" is not a built-in spec or an earlier spec of the file`},
		{"instance of an instance", "- {instance_of: claude, name: a}\n- {instance_of: a, name: b}\n", `line 2:17: specs[1].instance_of: "a" is an instance itself: write "claude"`},
		{"instance without a name", "instance_of: claude\nset_env: {A: b}\n", "line 1:1: name: is missing: an instance needs its own name"},
		{"duplicate instance name", "- {instance_of: claude, name: a}\n- {instance_of: codex, name: a}\n", `line 2:30: specs[1].name: "a" is the name of specs[0] already`},
		{"list instead of variables", "instance_of: claude\nname: work\nset_env: [A=b]\n", "line 3:10: set_env: is a list, want a map"},
		{"value with shell syntax", "instance_of: claude\nname: work\nset_env: {A: $HOME/x}\n",
			`line 3:14: set_env.A: "$HOME/x" is not a valid value: write "~/dir", "${NAME}", "${NAME:-~/dir}/rest", or a text without "$"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := specs.Load(strings.NewReader(test.file))
			require.EqualError(t, err, "specs: "+test.want)
		})
	}
}
