package compose

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
)

// ranged returns the spec of a CLI that has a new flag since version 2.1 and a renamed flag since 3.0.
func ranged() clispec.Spec {
	since := func(version string, w clispec.When) clispec.When { w.Since = version; return w }
	before := func(version string, w clispec.When) clispec.When { w.Before = version; return w }
	effort, turns := clispec.When{Set: []string{"effort"}}, clispec.When{Set: []string{"max_turns"}}
	write, dirs := clispec.When{Access: []call.Access{call.AccessWrite}}, clispec.When{Set: []string{"add_dirs"}}
	return clispec.Spec{
		Name: "own", Binary: "own", CheckedWith: "2.5.0 (own)",
		Files: []clispec.FileRow{{Field: "s", Name: "s.md", Content: "{system}", When: since("2.2", clispec.When{Set: []string{"system"}})}},
		Args: []clispec.ArgRow{
			{Args: []string{"--effort={effort}"}, When: since("2.1", effort)},
			{Args: []string{"--max-turns={max_turns}"}, When: before("3.0", turns)},
			{Args: []string{"--turns={max_turns}"}, When: since("3.0", turns)},
			{Args: []string{"--old-dirs={add_dirs}"}, When: before("2.0", dirs)},
			{Args: []string{"--edit"}, When: since("2.3", write)},
			{Args: []string{"--system={s_file}"}, When: since("2.2", clispec.When{Set: []string{"system"}})},
			{Args: []string{"{prompt}"}},
		},
		Env:       []clispec.EnvRow{{Name: "OWN_QUIET", Value: "1", When: clispec.When{Since: "2.4", Before: "2.6"}}},
		Preflight: []clispec.PreflightRule{{When: clispec.When{Before: "1.0"}, Reason: call.ReasonUnsupported, Message: "this version asks before each answer"}},
		Hints:     map[call.Reason]string{call.ReasonNotInstalled: "npm install -g own"},
	}
}

func TestRowsByVersion(t *testing.T) {
	effort := func(r *call.Request) { r.Options.Effort = "high" }
	turns := func(r *call.Request) { r.Options.MaxTurns = 3 }
	dirs := func(r *call.Request) { r.Options.AddDirs = []string{"/a"} }
	write := func(r *call.Request) { r.Access = call.AccessWrite }
	system := func(r *call.Request) {
		r.Messages = append([]call.Message{{Role: call.RoleSystem, Content: "Be brief."}}, r.Messages...)
	}
	for _, test := range []struct {
		name, version string
		set           func(*call.Request)
		args          []string // nil if the call is refused
		message, hint string
	}{
		{"version that introduced the flag", "2.1", effort, []string{"--effort=high", "hi"}, "", ""},
		{"later version", "2.10.0", effort, []string{"--effort=high", "hi"}, "", ""},
		{"earlier version", "2.0.9", effort, nil, `"high" needs version 2.1 of own or later: 2.0.9 is installed`, "update it: npm install -g own"},
		{"preview of the version", "2.1.0-rc.1", effort, nil, `"high" needs version 2.1 of own`, "update it"},
		{"unknown version", "", effort, []string{"--effort=high", "hi"}, "", ""},
		{"old flag name", "2.9.9", turns, []string{"--max-turns=3", "hi"}, "", ""},
		{"new flag name", "3.0.0", turns, []string{"--turns=3", "hi"}, "", ""},
		{"flag name of the checked version", "", turns, []string{"--max-turns=3", "hi"}, "", ""},
		{"removed flag", "2.0.0", dirs, nil, `"/a" has no flag since version 2.0 of own: 2.0.0 is installed`, "leave it out, or add a row"},
		{"removed flag with unknown version", "", dirs, nil, `"/a" has no flag since version 2.0 of own: an unknown version is installed`, "leave it out"},
		{"supported access level", "2.3", write, []string{"--edit", "hi"}, "", ""},
		{"access level of a later version", "2.2", write, nil, `"write" needs version 2.3 of own or later: 2.2 is installed`, "update it"},
		{"a file", "2.2", system, []string{"--system=/tmp/clichain-test/s.md", "hi"}, "", ""},
		{"option with another way", "2.1", system, []string{"SYSTEM: Be brief.\n\nhi"}, "", ""},
		{"preflight rule of the version", "0.9", func(*call.Request) {}, nil, "this version asks before each answer", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			req, h := call.Prompt("hi"), testHost()
			test.set(&req)
			h.Version = test.version
			inv, err := composerOf(t, ranged()).Compose(req, Choice{}, h)
			if test.args != nil {
				require.Nil(t, err)
				require.Equal(t, test.args, inv.Args)
				require.Equal(t, test.version, inv.Call.Version)
				return
			}
			require.NotNil(t, err)
			require.Equal(t, call.ReasonUnsupported, err.Reason)
			require.Contains(t, err.Message, test.message)
			require.Contains(t, err.Hint, test.hint)
		})
	}
}

func TestVariablesByVersion(t *testing.T) {
	for version, want := range map[string]bool{"2.3.9": false, "2.4": true, "2.5.99": true, "2.6": false, "": true} {
		h := testHost()
		h.Version = version
		inv, err := composerOf(t, ranged()).Compose(call.Prompt("hi"), Choice{}, h)
		require.Nil(t, err)
		require.Equal(t, want, slices.Contains(inv.Env, "OWN_QUIET=1"), version)
	}
}
