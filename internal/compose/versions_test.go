package compose

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
)

// ranged is a CLI that got a flag in 2.1, and another name for one in 3.0.
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
		Preflight: []clispec.PreflightRule{{When: clispec.When{Before: "1.0"}, Reason: call.ReasonUnsupported, Message: "it asks before each answer"}},
		Hints:     map[call.Reason]string{call.ReasonNotInstalled: "npm install -g own"},
	}
}

func TestRowsOfAVersion(t *testing.T) {
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
		args          []string // nil: it is refused
		message, hint string
	}{
		{"in the version that has it", "2.1", effort, []string{"--effort=high", "hi"}, "", ""},
		{"in a later one", "2.10.0", effort, []string{"--effort=high", "hi"}, "", ""},
		{"before", "2.0.9", effort, nil, `"high" needs version 2.1 of own or later: 2.0.9 is installed`, "update it: npm install -g own"},
		{"in a preview of it", "2.1.0-rc.1", effort, nil, `"high" needs version 2.1 of own`, "update it"},
		{"in a version that is not known", "", effort, []string{"--effort=high", "hi"}, "", ""},
		{"by its first name", "2.9.9", turns, []string{"--max-turns=3", "hi"}, "", ""},
		{"by its later name", "3.0.0", turns, []string{"--turns=3", "hi"}, "", ""},
		{"by the name of the checked version", "", turns, []string{"--max-turns=3", "hi"}, "", ""},
		{"where it was once", "2.0.0", dirs, nil, `"/a" has no flag since version 2.0 of own: 2.0.0 is installed`, "leave it out, or add a row"},
		{"where it may have been once", "", dirs, nil, `"/a" has no flag since version 2.0 of own: an unknown version is installed`, "leave it out"},
		{"an access level", "2.3", write, []string{"--edit", "hi"}, "", ""},
		{"an access level before", "2.2", write, nil, `"write" needs version 2.3 of own or later: 2.2 is installed`, "update it"},
		{"a file", "2.2", system, []string{"--system=/tmp/clichain-test/s.md", "hi"}, "", ""},
		{"what has another way", "2.1", system, []string{"SYSTEM: Be brief.\n\nhi"}, "", ""},
		{"what the version would refuse", "0.9", func(*call.Request) {}, nil, "it asks before each answer", ""},
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

func TestVariablesOfAVersion(t *testing.T) {
	for version, want := range map[string]bool{"2.3.9": false, "2.4": true, "2.5.99": true, "2.6": false, "": true} {
		h := testHost()
		h.Version = version
		inv, err := composerOf(t, ranged()).Compose(call.Prompt("hi"), Choice{}, h)
		require.Nil(t, err)
		require.Equal(t, want, slices.Contains(inv.Env, "OWN_QUIET=1"), version)
	}
}
