package confine

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/landlock"
)

// Git refuses every command if it cannot read an existing configuration.
func TestRulesWithGit(t *testing.T) {
	for _, test := range []struct {
		name, script string
		from         call.Access
	}{
		{"status", "git status", read},
		{"log", "git log", read},
		{"user of an included file", `test "$(git config user.name)" = A`, read},
		{"commit", "echo y >>code && git commit -q -a -m more", write},
		{"branch", "git branch -f other", write},
	} {
		for _, level := range levels {
			t.Run(level.String()+"/"+test.name, func(t *testing.T) {
				m := newMachine(t, level)
				m.repository()
				m.check(m.asOther(test.script), level >= test.from)
			})
		}
	}
}

// The counter-proof is a call without the rules for the configuration.
func TestRulesGrantGitConfig(t *testing.T) {
	m := newMachine(t, read)
	m.repository()
	var rules []landlock.Rule
	for _, rule := range m.rules() {
		if rule.Path != m.at("home/.gitconfig") {
			rules = append(rules, rule)
		}
	}
	code, output := m.run(rules, "git status")
	require.NotZero(t, code)
	require.Contains(t, output, "fatal")
}

func TestRulesInDirectoryOfRepository(t *testing.T) {
	m := newMachine(t, read)
	m.write("home/src/project/sub/a", "x")
	m.repository()
	m.in.Dir = m.at("home/src/project/sub")
	m.check("git log", true)
	m.check("cat ../code", false)
	m.in.Access = write
	m.check("echo y >>a && git commit -q -a -m more", true)
	m.check("echo y >../code", false)
}

func TestRulesInLinkedWorktree(t *testing.T) {
	m := newMachine(t, read)
	m.repository()
	m.command("home/src/project", "git", "worktree", "add", "-q", "-b", "side", m.at("home/src/linked"))
	m.command("home/src/project", "git", "worktree", "add", "-q", "-b", "third", m.at("home/src/third"))
	m.in.Dir = m.at("home/src/linked")
	m.check("git status", true)
	m.check("cat ../project/code", false)
	m.check("echo y >>code", false)
	m.in.Access = write
	m.check("echo y >>code && git commit -q -a -m more", true)
	for _, script := range []string{
		"echo y >>../project/code", ": >../project/.git/hooks/pre-commit", "echo '#' >>../project/.git/config",
		": >../project/.git/worktrees/third/x",
	} {
		m.check(script, false)
	}
}

func TestRulesInSubmodule(t *testing.T) {
	m := newMachine(t, write)
	m.repository()
	m.write("library/a", "x")
	m.command("library", "git", "init", "-q")
	m.command("library", "git", "add", ".")
	m.command("library", "git", "commit", "-q", "-m", "first")
	m.command("home/src/project", "git", "-c", "protocol.file.allow=always", "submodule", "add", "-q", m.at("library"), "library")
	m.in.Dir = m.at("home/src/project/library")
	m.check("echo y >>a && git commit -q -a -m more", true)
	m.check("echo y >>../code", false)
}

func TestRulesWithBorrowedObjects(t *testing.T) {
	m := newMachine(t, read)
	m.repository()
	m.command("home/src", "git", "clone", "-q", "--shared", "project", "clone")
	m.in.Dir = m.at("home/src/clone")
	m.check("git log -p", true)
	m.check("cat ../project/code", false)
	m.in.Access = write
	m.check("echo y >>code && git commit -q -a -m more", true)
	m.check("rm -rf ../project/.git/objects", false)
}

// A hostile directory must not get files of others by naming them as its repository.
func TestRulesWithHostileRepository(t *testing.T) {
	for name, arrange := range map[string]func(m *machine){
		"file that names another repository": func(m *machine) {
			m.write("home/evil/.git", "gitdir: "+m.at("home/src/project/.git")+"\n")
		},
		"file that names a worktree of another": func(m *machine) {
			m.command("home/src/project", "git", "worktree", "add", "-q", "-b", "side", m.at("home/src/linked"))
			m.write("home/evil/.git", "gitdir: "+m.at("home/src/project/.git/worktrees/linked")+"\n")
		},
		"link to another repository": func(m *machine) {
			require.NoError(m.t, os.Symlink(m.at("home/src/project/.git"), m.at("home/evil/.git")))
		},
		"git directory outside that it made itself": func(m *machine) {
			m.write("home/evil/.git", "gitdir: "+m.at("home/evil/fake/worktrees/w")+"\n")
			m.write("home/evil/fake/worktrees/w/gitdir", m.at("home/evil/.git")+"\n")
			m.write("home/evil/fake/worktrees/w/commondir", m.at("home/src/project/.git")+"\n")
		},
		"borrowed objects": func(m *machine) {
			m.command("home/evil", "git", "init", "-q")
			m.write("home/evil/.git/objects/info/alternates", m.at("home/src/project/.git")+"\n"+m.at("home/.ssh")+"\n")
		},
		"included configuration": func(m *machine) {
			m.command("home/evil", "git", "init", "-q")
			m.write("home/evil/.git/config", "[include]\npath = "+m.at("home/src/project/.git/config")+"\n")
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t, read)
			m.repository()
			m.write("home/evil/a", "x")
			arrange(m)
			m.in.Dir = m.at("home/evil")
			m.check("cat a", true)
			m.check("cat ~/src/project/.git/config", false)
			m.check("cat ~/.ssh/id", false)
			m.in.Access = write
			m.check("echo x >>~/src/project/.git/config", false)
		})
	}
}

func TestReadSettings(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config")
	text := "# a\n[Core] ExcludesFile = ~/ignore ; b\n[include]\n\tpath = \"a b\" # c\n; d = e\n" +
		"[includeIf \"gitdir:~/work/\"]\n\tpath = work\n[broken\nflag\n"
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	require.Equal(t, []setting{
		{"core.excludesfile", "~/ignore"}, {"include.path", "a b"}, {"includeif.gitdir:~/work/.path", "work"},
	}, readSettings(file))
}

// A copy that package workspace made is below clichain's cache, which is an exception. Its repository borrows the
// objects of the original.
func TestRulesInPrivateCopy(t *testing.T) {
	m := newMachine(t, write)
	t.Setenv("XDG_CACHE_HOME", m.at("home/.cache"))
	m.repository()
	for _, slot := range []string{"1", "2"} {
		m.write("home/.cache/clichain/work/abc/"+slot+"/lock", "")
		m.command("home/src", "git", "clone", "-q", "--shared", "project", m.at("home/.cache/clichain/work/abc/"+slot+"/project"))
	}
	m.in.Dir = m.at("home/.cache/clichain/work/abc/1/project")
	m.check("echo x >>code && git add . && git commit -q -m second && git show HEAD~1 >/dev/null", true)
	m.check("echo x >>~/src/project/code", false)
	m.check("touch ~/src/project/.git/objects/new", false)
	m.check("cat ../lock", false)
	m.check("cat ../../2/project/code", false)
	for _, dir := range []string{"home/.cache/clichain/work/abc/1", "home/.cache/clichain/work", "home/.cache/clichain/other/a/b/c"} {
		m.write(dir+"/a", "")
		m.in.Dir = m.at(dir)
		_, err := Rules(m.in)
		require.ErrorContains(t, err, "holds credentials")
	}
}
