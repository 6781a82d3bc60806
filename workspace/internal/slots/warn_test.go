package slots

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWarnings(t *testing.T) {
	m := newMachine(t)
	m.write("go.mod", "module m\n\nreplace a.example/a => ../a\n\nreplace (\n\tb.example/b v1 => ./sub\n\tc.example/c => c.example/d v1\n)\n")
	m.write("sub/go.work", "go 1.26\n\nuse ../../lib\nuse (\n\t./here\n\t../\n\t\"../../quoted\"\n)\n")
	m.write("sub/package.json", `{"dependencies": {"a": "file:../../pack", "b": "link:../b", "c": "^1.0.0"}}`)
	m.write("sub/Cargo.toml", "[dependencies]\nx = { path = \"../../x\" }\ny = { path = \"../y\" }\n")
	m.write("deeper/package.json/a", "no file of settings")
	require.NoError(t, os.Symlink("../outside", m.at("out")))
	require.NoError(t, os.Symlink("sub", m.at("in")))
	require.NoError(t, os.Symlink(m.at("go.mod"), m.at("absolute")))
	s := m.open(Source{})
	require.ElementsMatch(t, []string{
		`"go.mod" names "../a", which is not in the copy`,
		`"sub/go.work" names "../../lib", which is not in the copy`,
		`"sub/go.work" names "../../quoted", which is not in the copy`,
		`"sub/package.json" names "../../pack", which is not in the copy`,
		`"sub/Cargo.toml" names "../../x", which is not in the copy`,
		`"out" names "../outside", which is not in the copy`,
		fmt.Sprintf(`"absolute" names %q, which is not in the copy`, m.at("go.mod")),
	}, s.Warnings)
	require.NoError(t, s.Close())
}

func TestWarningsAreLimited(t *testing.T) {
	m := newMachine(t)
	for i := range maxWarnings + 5 {
		require.NoError(t, os.Symlink("/missing", m.at(fmt.Sprint("link", i))))
	}
	s := m.open(Source{})
	require.Len(t, s.Warnings, maxWarnings+1)
	require.NoError(t, s.Close())
}

func TestWarningsOfNestedRepositories(t *testing.T) {
	m := newMachine(t)
	m.write("a", "one\n")
	m.write("nested/b", "two\n")
	m.git(m.at("nested"), "init", "-q")
	m.git(m.at("nested"), "add", "-A")
	m.git(m.at("nested"), "commit", "-q", "-m", "nested")
	s := m.open(Source{})
	require.Equal(t, []string{`the copy does not contain "nested/.git"`}, s.Warnings)
	m.same(s)
	require.NoError(t, s.Close())
	m.git(m.top, "init", "-q")
	s = m.open(Source{})
	require.Equal(t, []string{`the copy does not contain the repository "nested/": carry it if needed`}, s.Warnings)
	require.NoError(t, s.Close())
	s = m.open(Source{Carry: []string{"nested"}})
	require.Empty(t, s.Warnings)
	require.Equal(t, m.tree(m.top), m.tree(s.Top))
	require.NoError(t, s.Close())
}
