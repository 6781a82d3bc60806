package slots

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var refusals = []struct {
	name   string
	change func(m *machine) Source
	want   string
}{
	{"home directory", func(m *machine) Source { return Source{Dir: m.home} }, "is too large to copy"},
	{"directory above the home", func(m *machine) Source { return Source{Dir: filepath.Dir(m.home)} }, "is too large to copy"},
	{"root directory", func(*machine) Source { return Source{Dir: "/"} }, "is too large to copy"},
	{"repository in the home directory", func(m *machine) Source {
		m.git(m.home, "init", "-q")
		return Source{}
	}, "run \"git init\" in "},
	{"missing directory", func(*machine) Source { return Source{Dir: "/missing"} }, "no such file"},
	{"file", func(m *machine) Source { return Source{Dir: m.at("a")} }, "is not a directory"},
	{"directory that contains the slots", func(m *machine) Source {
		require.NoError(m.t, os.MkdirAll(m.root, 0o700))
		return Source{Dir: filepath.Dir(m.root)}
	}, "contains the copies"},
	{"bare repository", func(m *machine) Source {
		m.git(m.home, "init", "-q", "--bare", "bare")
		return Source{Dir: filepath.Join(m.home, "bare")}
	}, "bare repository"},
	{"directory of git", func(m *machine) Source {
		m.commit()
		return Source{Dir: m.at(".git/refs")}
	}, "git's own files"},
	{"broken repository", func(m *machine) Source {
		m.write(".git", "gitdir: missing\n")
		return Source{}
	}, "git does not accept the repository"},
	{"submodule", func(m *machine) Source {
		m.commit()
		head := strings.TrimSpace(m.git(m.top, "rev-parse", "HEAD"))
		m.git(m.top, "update-index", "--add", "--cacheinfo", "160000,"+head+",deps/lib")
		return Source{}
	}, `the submodule "deps/lib"`},
	{"work tree below the directory", func(m *machine) Source {
		m.write("sub/b", "two\n")
		m.commit()
		m.git(m.top, "config", "core.worktree", m.at("sub"))
		return Source{}
	}, "because of core.worktree"},
	{"work tree above the directory", func(m *machine) Source {
		m.commit()
		m.git(m.top, "config", "core.worktree", filepath.Dir(m.top))
		return Source{}
	}, "because of core.worktree"},
	{"ignored directory", func(m *machine) Source {
		m.write(".gitignore", "/out/\n")
		m.write("out/sub/x", "x")
		m.commit()
		return Source{Dir: m.at("out/sub")}
	}, "ignores all files of"},
	{"tree above the limit", func(*machine) Source { return Source{MaxBytes: 3} }, "more than 3 bytes (MaxBytes)"},
	{"untracked files above the limit", func(m *machine) Source {
		m.git(m.top, "init", "-q")
		return Source{MaxBytes: 3}
	}, "add files to .gitignore"},
	{"missing carried path", func(*machine) Source { return Source{Carry: []string{"missing"}} }, `carry "missing": does not exist`},
	{"carried path outside", func(*machine) Source { return Source{Carry: []string{"../x"}} }, "must be a path inside"},
	{"absolute carried path", func(m *machine) Source { return Source{Carry: []string{m.at("a")}} }, "must be a path inside"},
	{"carried directory itself", func(*machine) Source { return Source{Carry: []string{"."}} }, "must be a path inside"},
	{"carried directory of git", func(*machine) Source { return Source{Carry: []string{".git"}} }, "its own .git"},
	{"carried path that is not ignored", func(m *machine) Source {
		m.write(".gitignore", "!/kept\n")
		m.write("kept/x", "x")
		m.commit()
		m.git(m.top, "rm", "-rq", "--cached", "kept")
		return Source{Carry: []string{"kept"}}
	}, "includes it again"},
	{"carried path behind a link", func(m *machine) Source {
		require.NoError(m.t, os.Symlink("..", m.at("up")))
		return Source{Carry: []string{"up/project"}}
	}, "behind a symbolic link"},
}

func TestOpenRefuses(t *testing.T) {
	for _, test := range refusals {
		t.Run(test.name, func(t *testing.T) {
			m := newMachine(t)
			m.write("a", "text\n")
			src := test.change(m)
			if src.Dir == "" {
				src.Dir = m.top
			}
			_, err := Open(t.Context(), m.root, src)
			require.ErrorContains(t, err, test.want)
			require.ErrorContains(t, err, "workspace: ")
		})
	}
}
