package grammar_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/internal/grammar"
)

func TestReadPath(t *testing.T) {
	place := grammar.Place{Vars: map[string]string{"SET": "/set", "UNCLEAN": "/a//b/../c"}, Home: "/home/u", Dir: "/work"}
	for text, want := range map[string][]string{
		"~":                {"/home/u"},
		"~/.agent":         {"/home/u/.agent"},
		"~//a/../b/":       {"/home/u/b"},
		"/etc/./agent":     {"/etc/agent"},
		"${SET}":           {"/set"},
		"${SET:-~/a}/b":    {"/set/b"},
		"${UNSET:-~/a}/b":  {"/home/u/a/b"},
		"${UNSET:-a:-b}":   {"/work/a:-b"},
		"${UNSET}/b":       nil,
		"${UNCLEAN}":       {"/a/c"},
		"./agent":          {"/work/agent", "/agent"},
		"${_X9:-~/a}/b}/c": {"/home/u/a/b}/c"},
	} {
		template, err := grammar.ReadPath(text)
		require.NoError(t, err, text)
		paths, ok := template.Paths(place)
		require.True(t, ok, text)
		require.Equal(t, want, paths, text)
	}
	for _, text := range []string{
		"", "$SET", "${SET", "${}", "${9}", "${A-B}", "${SET:-}", "${SET:b}", "${SET:-{}", "${SET:-$A}", "${SET}/$A", "a${SET}",
	} {
		_, err := grammar.ReadPath(text)
		require.Error(t, err, text)
	}
}

func TestIsClean(t *testing.T) {
	for _, path := range []string{
		"", "/", "//", "/a", "/a/", "/a/b", "/a//b", "/.", "/./a", "/a/.", "/..", "/a/../b", "/.a", "/..a/...", "a", "a/b",
	} {
		require.Equal(t, filepath.IsAbs(path) && filepath.Clean(path) == path, grammar.IsClean(path), path)
	}
}
