package held

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/clispec"
)

// A process with one context at a time puts an ID in its lines. The IDs of an earlier context never belong to a
// later one.
func TestContextIDsOfSingleContext(t *testing.T) {
	c := contexts{rules: &clispec.LiveRules{Of: "id"}}
	require.ErrorIs(t, c.leave(), errUnnamed, "no line has named the context")
	for i := range maxNames {
		require.True(t, c.present(fmt.Sprint("a", i)), "a session may change its id")
	}
	require.False(t, c.present("one too many"), "the number of IDs is limited")
	require.True(t, c.present("a0"))
	require.NoError(t, c.leave())
	require.False(t, c.present("a0"), "late")
	require.False(t, c.present("a15"), "late")
	require.True(t, c.present("b"))
	require.True(t, c.present("b"))
	require.False(t, c.present("c"), "a process with several callers accepts one ID only")
	require.NoError(t, c.leave())
	require.False(t, c.present("b"), "late")
	require.False(t, c.present("a0"), "very late")
}

// A context that was opened has the ID in the response, which must be new.
func TestContextIDsOfOpenedContexts(t *testing.T) {
	for name, test := range map[string]struct {
		barrier []clispec.LiveMessage
		second  string
		want    error
	}{
		"another id":                 {nil, "b", nil},
		"the same id":                {nil, "a", errUnnamed},
		"the same id, and a barrier": {[]clispec.LiveMessage{{Method: "sync"}}, "a", nil},
	} {
		t.Run(name, func(t *testing.T) {
			c := contexts{rules: &clispec.LiveRules{Open: []clispec.LiveMessage{{Method: "open"}}, Barrier: test.barrier}}
			require.NoError(t, c.opened("a", false))
			require.False(t, c.several())
			require.False(t, c.present("b"))
			require.NoError(t, c.leave())
			require.ErrorIs(t, c.opened(test.second, false), test.want)
			require.True(t, c.several())
			require.Equal(t, c.current() == "a", c.present("a"))
		})
	}
}
