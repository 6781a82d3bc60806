package confine

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
)

const (
	none  = call.AccessNone
	read  = call.AccessRead
	write = call.AccessWrite
)

var levels = []call.Access{none, read, write}

// never is the level of a script that no confined call may run.
const never = call.AccessFull

// attempts are scripts with the first level at which the rules allow them. All work without rules.
var attempts = []struct {
	name, script string
	from         call.Access
}{
	{"read a key", "cat ~/.ssh/id", never},
	{"read the state of another CLI", "cat ~/.other/login", never},
	{"read the cached state of another CLI", "cat ~/.cache/other/a", never},
	{"read a key through a link", "ln -sf ~/.ssh/id $TMPDIR/k && cat $TMPDIR/k", never},
	{"read a key by another name", "ln -f ~/.ssh/id $TMPDIR/h && cat $TMPDIR/h", never},
	{"read a key through the process", "cat /proc/self/root$HOME/.ssh/id", never},
	{"change a key", "echo x >>~/.ssh/id", never},
	{"list the home directory", "ls ~", never},
	{"list the root directory", "ls /", never},
	{"read a file that is neither in the home nor granted", "cat ~/../outside/a", never},
	{"write outside the working directory", "echo x >>~/../outside/a", never},
	{"create a file outside the working directory", ": >~/../outside/new", never},
	{"write beside the working directory", "echo x >>~/src/beside/code", never},
	{"write beside the working directory by another name", "ln -f ~/notes/a b && echo x >>b", never},
	{"create a file in the home directory", ": >~/new", never},
	{"change a start-up file of the shell", "echo x >>~/.bashrc", never},
	{"create a program", ": >~/.local/bin/new", never},
	{"change a program on PATH", "echo x >>~/tools/own", never},
	{"create a file in the directory for temporary files of others", ": >/tmp/confine-test && rm /tmp/confine-test", never},
	{"use shared memory", "[ ! -e /dev/shm ] || (: >/dev/shm/confine-test && rm /dev/shm/confine-test)", never},

	{"change the state", "echo x >>~/.agent/login && mv ~/.agent/login ~/.agent/b && rm ~/.agent/b", none},
	{"use the temporary directory", "echo x >$TMPDIR/new && rm $TMPDIR/new", none},
	{"use devices", "head -c 1 /dev/urandom >/dev/null", none},
	{"write to a pipe by its name", "echo x >/dev/stdout | grep -q x", none},
	{"read an image", "cat ~/../images/a.png", none},
	{"read processes", "cat /proc/self/status", none},
	{"read settings of the system", "cat /etc/passwd", none},

	{"read the working directory", "cat ~/src/project/code", read},
	{"list the working directory", "ls ~/src/project", read},
	{"run a program of the state", "printf '#!/bin/sh\\n' >~/.agent/p && chmod +x ~/.agent/p && ~/.agent/p", read},

	{"change the working directory", "echo x >>code && echo y >new && mkdir -p d && mv new d/new", write},
	{"run a new program of the working directory", "printf '#!/bin/sh\\n' >p && chmod +x p && ./p", write},
	{"run a new program of the temporary directory", "cp /bin/true $TMPDIR/p && $TMPDIR/p", write},
	{"read beside the working directory", "cat ~/src/beside/code", write},
	{"read a file of the home directory", "cat ~/notes/a", write},
	{"list a directory of the home directory", "ls ~/notes", write},
	{"run a program on PATH of the home directory", "cat ~/.local/bin/tool", write},
	{"change a cache", "echo x >>~/.cache/build/a && : >~/.cache/build/new", write},
}

func TestRulesAtEachLevel(t *testing.T) {
	for _, test := range attempts {
		for _, level := range levels {
			t.Run(level.String()+"/"+test.name, func(t *testing.T) {
				newMachine(t, level).check(test.script, level >= test.from)
			})
		}
	}
}

// The kernel ignores the permissions of files for root, but not the rules.
func TestRulesForOtherUser(t *testing.T) {
	for _, test := range attempts {
		t.Run(test.name, func(t *testing.T) {
			m := newMachine(t, write)
			m.check(m.asOther(test.script), write >= test.from)
		})
	}
}

// The counter-proof is the same script for a link that stays in the directory.
func TestRulesWithLinkOutOfDirectory(t *testing.T) {
	m := newMachine(t, write)
	require.NoError(t, os.Symlink(m.at("outside"), m.at("home/src/project/out")))
	require.NoError(t, os.Mkdir(m.at("home/src/project/sub"), 0o700))
	require.NoError(t, os.Symlink("sub", m.at("home/src/project/in")))
	m.check("echo x >out/a", false)
	m.check("echo x >out/new", false)
	m.check("echo x >in/new", true)
}

func TestRulesFull(t *testing.T) {
	rules, err := Rules(Input{Access: call.AccessFull})
	require.NoError(t, err)
	require.Nil(t, rules)
}

func TestRulesWithConfiguredPaths(t *testing.T) {
	for _, level := range levels {
		m := newMachine(t, level)
		m.in.ReadPaths, m.in.WritePaths = []string{"~/.ssh"}, []string{m.at("outside")}
		m.check("cat ~/.ssh/id", true)
		m.check("echo x >>~/.ssh/id", false)
		m.check("echo x >~/../outside/new", true)
	}
}

// A hostile directory must not get a key as an image.
func TestRulesWithImageThatIsLink(t *testing.T) {
	m := newMachine(t, none)
	m.relative("../../.ssh/id", "home/src/project/picture.png")
	m.in.Images = []string{m.at("home/src/project/picture.png")}
	m.check("cat ~/src/project/picture.png", false)
	m.relative("../../notes/a", "home/src/project/other.png")
	m.in.Images = []string{m.at("home/src/project/other.png")}
	m.check("cat ~/src/project/other.png", true)
}

func TestRulesWithCaches(t *testing.T) {
	m := newMachine(t, write)
	m.in.Caches = []string{m.at("outside"), m.at("missing")}
	m.check("echo x >~/../outside/new", true)
	m.check("echo x >>~/.cache/build/a", false)
	m.in.Caches = []string{}
	m.check("echo x >>~/.cache/build/a", false)
}

// A confined program cannot create an entry of ~/.cache, which contains the state of other CLIs.
func TestRulesWithMissingCaches(t *testing.T) {
	m := newMachine(t, write)
	m.write("home/tools/cargo", "#!/bin/sh\n")
	m.write("home/tools/uv", "#!/bin/sh\n")
	m.check("mkdir ~/.cache/new", false)
	m.check("echo x >~/.cargo/registry/a && echo x >~/.cache/uv/a", true)
	require.NoDirExists(t, m.at("home/.gradle"))
	m.check(": >~/.cargo/new", false)
	for _, level := range levels[:2] {
		m := newMachine(t, level)
		m.write("home/tools/cargo", "#!/bin/sh\n")
		m.rules()
		require.NoDirExists(t, m.at("home/.cargo"))
	}
}

// A directory that contains an exception cannot be granted, so each of its entries is.
func TestRulesInHomeDirectory(t *testing.T) {
	m := newMachine(t, write)
	m.in.Dir = m.home
	m.check("echo x >>~/notes/a", true)
	m.check("echo x >>~/.agent/login", true)
	m.check(": >~/.agent/new", true)
	for _, script := range []string{
		"cat ~/.ssh/id", "cat ~/.other/login", "echo x >>~/.bashrc", ": >~/.local/bin/new", ": >~/tools/new", ": >~/new",
	} {
		m.check(script, false)
	}
	m.in.Access = read
	m.check("cat ~/notes/a", true)
	m.check("cat ~/.ssh/id", false)
	m.check("echo x >>~/notes/a", false)
}

func TestRulesWithProgramsOnPathInProject(t *testing.T) {
	m := newMachine(t, write)
	m.write("home/src/project/.venv/bin/python", "x")
	m.in.Env = append(m.in.Env, "PATH="+m.at("home/src/project/.venv/bin")+":/usr/bin:/bin")
	m.check("echo x >.venv/bin/python && : >new", true)
	m.write("home/.manager/bin/python", "x")
	m.in.Env = append(m.in.Env, "PATH="+m.at("home/.manager/bin")+":/usr/bin:/bin")
	m.in.Dir = m.at("home/.manager")
	m.check("echo x >bin/python", false)
}

func TestRulesErrors(t *testing.T) {
	for _, test := range []struct {
		name   string
		access call.Access
		change func(m *machine)
		field  string
	}{
		{"missing read path", none, func(m *machine) { m.in.ReadPaths = []string{m.at("missing")} }, "read_paths"},
		{"relative read path", none, func(m *machine) { m.in.ReadPaths = []string{"notes"} }, "read_paths"},
		{"missing write path", none, func(m *machine) { m.in.WritePaths = []string{m.at("missing")} }, "write_paths"},
		{"relative cache", none, func(m *machine) { m.in.Caches = []string{"cache"} }, "cache_paths"},
		{"credentials as the directory", read, func(m *machine) { m.in.Dir = m.at("home/.ssh") }, "dir"},
		{"state of another CLI as the directory", read, func(m *machine) { m.in.AddDirs = []string{m.at("home/.other")} }, "add_dirs"},
		{"programs as the directory", write, func(m *machine) { m.in.Dir = m.at("home/.local/bin") }, "dir"},
		{"directory above the home", write, func(m *machine) { m.in.Dir = m.base }, "dir"},
		{"root directory", write, func(m *machine) { m.in.Dir = "/" }, "dir"},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := newMachine(t, test.access)
			test.change(m)
			_, err := Rules(m.in)
			var failed *Error
			require.ErrorAs(t, err, &failed)
			require.Equal(t, test.field, failed.Field)
			require.Contains(t, err.Error(), failed.Value)
		})
	}
}

func TestRulesWithHomeBehindLink(t *testing.T) {
	m := newMachine(t, write)
	require.NoError(t, os.Rename(m.home, m.at("disk")))
	require.NoError(t, os.Symlink("disk", m.home))
	m.check("echo x >>code && cat ~/notes/a && : >~/.agent/new", true)
	m.check("cat ~/.ssh/id", false)
	m.check(": >~/.local/bin/new", false)
}

func TestRulesAboveHome(t *testing.T) {
	m := newMachine(t, read)
	m.in.Dir = m.base
	m.check("cat outside/a home/notes/a", true)
	m.check("cat home/.ssh/id", false)
}

// A call without a temporary directory must not get the working directory of this process instead.
func TestRulesWithoutTemp(t *testing.T) {
	m := newMachine(t, none)
	m.in.Temp = ""
	for _, rule := range m.rules() {
		require.True(t, filepath.IsAbs(rule.Path), rule.Path)
	}
}

// A call without access may list its directory only if that contains nothing.
func TestRulesWithEmptyDirectory(t *testing.T) {
	m := newMachine(t, none)
	require.NoError(t, os.Mkdir(m.at("empty"), 0o700))
	m.in.Dir = m.at("empty")
	m.check("ls .", true)
	m.write("empty/a", "x")
	m.check("ls .", false)
}

// The files of a login depend on the call. If they are given, they replace the list of the spec.
func TestRulesForRead(t *testing.T) {
	m := newMachine(t, none)
	m.check("cat ~/.ssh/id", false)
	m.in.Read = []string{"~/.ssh/id", "~/.missing", "${MISSING}"}
	m.check("cat ~/.ssh/id", true)
}

// A copy of package workspace is below the cache of clichain, which is hidden.
func TestRulesInCopyOfWorkspace(t *testing.T) {
	const work = "home/.cache/clichain/work/0a1b/"
	m := newMachine(t, write)
	for _, path := range []string{"1/project/code", "1/git/index", "1/lock", "2/project/code"} {
		m.write(work+path, "x")
	}
	m.write("home/.cache/clichain/records", "x")
	m.write(work+"1/project/.venv/bin/python", "x")
	m.in.Dir = m.at(work + "1/project")
	m.in.Env = append(m.in.Env, "PATH="+m.at(work+"1/project/.venv/bin")+":/usr/bin:/bin")
	m.check("echo x >>code && : >new && rm new", true)
	m.check("echo x >>.venv/bin/python", true)
	for _, path := range []string{"../git/index", "../lock", "../../2/project/code", "../../../../records"} {
		m.check("cat "+path, false)
		m.check("echo x >>"+path, false)
	}
	m.check("ls ..", false)
	m.check(": >../new && rm ../new", false)
	for _, dir := range []string{work + "1", work, "home/.cache/clichain/work", "home/.cache/clichain"} {
		m.in.Dir = m.at(dir)
		_, err := Rules(m.in)
		require.ErrorContains(t, err, "holds credentials", dir)
	}
}

func TestRulesWithRepositoryInCopyOfWorkspace(t *testing.T) {
	m := newMachine(t, write)
	m.write("home/.cache/clichain/work/0a1b/1/project/sub/code", "x")
	m.command("home/.cache/clichain/work/0a1b/1/project", "git", "init", "-q")
	m.in.Dir = m.at("home/.cache/clichain/work/0a1b/1/project/sub")
	m.check("echo x >>../.git/config", true)
	m.in.Access = read
	m.check("cat ../.git/config", true)
}
