package conformance_test

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
)

// hostileDir is a directory such as a cloned repository. Each of its files has a name, and the tests can see which
// files took effect.
type hostileDir struct {
	marks string           // programs of the directory create files with their names here
	other *loopback.Server // files of the directory redirect the CLI's requests, with its key, to this server
}

// newHostileDir returns a hostileDir whose second server answers by the script.
func newHostileDir(t *testing.T, script loopback.Script) hostileDir {
	t.Helper()
	return hostileDir{t.TempDir(), loopback.New(t, script)}
}

// placeholders matches the placeholders in planted files: a command that creates a mark, the path of a mark, a unique
// word, and the second server.
var placeholders = regexp.MustCompile(`<(run|mark|say) ([a-z0-9-]+)>|<other>`)

// plant writes files below a directory and replaces the placeholders. A file that begins with "#!" is executable.
func (f hostileDir) plant(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path, mode := filepath.Join(dir, name), os.FileMode(0o644)
		if len(text) > 1 && text[:2] == "#!" {
			mode = 0o755
		}
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(f.fill(text)), mode))
	}
}

func (f hostileDir) fill(text string) string {
	return placeholders.ReplaceAllStringFunc(text, func(sign string) string {
		part := placeholders.FindStringSubmatch(sign)
		switch part[1] {
		case "run":
			return "touch " + filepath.Join(f.marks, part[2])
		case "mark":
			return filepath.Join(f.marks, part[2])
		case "say":
			return "planted-" + part[2]
		}
		return f.other.URL
	})
}

var said = regexp.MustCompile(`planted-([a-z0-9-]+)`)

// seen lists the files that took effect: "ran NAME" for a mark, "sent NAME" for a word that reached a model, and
// "elsewhere" for a request to the second server.
func (f hostileDir) seen(t *testing.T, server *loopback.Server) []string {
	t.Helper()
	found := map[string]bool{}
	marks, err := os.ReadDir(f.marks)
	require.NoError(t, err)
	for _, mark := range marks {
		found["ran "+mark.Name()] = true
	}
	requests := f.other.Requests()
	if len(requests) > 0 {
		found["elsewhere"] = true
	}
	for _, q := range append(requests, server.Requests()...) {
		for _, word := range said.FindAllStringSubmatch(q.Path+" "+string(q.Body), -1) {
			found["sent "+word[1]] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// repository makes a directory a git repository with one commit. One of its two files has changed since. The other
// one has only a new time, so git must read it and update the index.
func repository(t *testing.T, dir string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skipf("git is not installed: %v", err)
	}
	require.NoError(t, os.MkdirAll(dir, 0o755))
	note, same := filepath.Join(dir, "notes.txt"), filepath.Join(dir, "same.txt")
	for _, path := range []string{note, same} {
		require.NoError(t, os.WriteFile(path, []byte("The sky is indigo.\n"), 0o644))
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"commit", "-q", "-m", "planted-commit"}} {
		cmd := exec.Command("git", append([]string{"-c", "user.name=x", "-c", "user.email=x@x"}, args...)...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	require.NoError(t, os.WriteFile(note, []byte("The sky is orange.\n"), 0o644))
	require.NoError(t, os.Chtimes(same, time.Unix(1, 0), time.Unix(1, 0)))
}

// gitFiles make git run programs: a filter if a file has changed, and the others if the model uses git.
var gitFiles = map[string]string{
	".git/config": `[core]
	repositoryformatversion = 0
	fsmonitor = "<run fsmonitor>; false"
	hooksPath = hooks
[filter "evil"]
	clean = "<run filter>; cat"
[user]
	name = <say git-user>
	email = x@x
`,
	".git/info/attributes":    "*.txt filter=evil\n",
	"hooks/post-index-change": "#!/bin/sh\n<run git-hook>\n",
}

// everyFile returns the content of all files below a directory, by path.
func everyFile(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		all[path] = string(text)
		return err
	}))
	return all
}

// trusting is a configuration whose PATH starts with the working directory.
func trusting(trust bool) clichain.Config {
	cfg := flagsOnly
	cfg.TrustDir, cfg.Env = trust, []string{"PATH=.:" + os.Getenv("PATH")}
	return cfg
}

// withOwnNode puts the programs of a CLI's installation, which may include its Node.js, before the programs of the
// system.
func withOwnNode(t *testing.T, name string, cfg clichain.Config) clichain.Config {
	t.Helper()
	cfg.Env = []string{"PATH=.:" + filepath.Dir(home.Newest(t, name).Binary(t)) + ":" + os.Getenv("PATH")}
	return cfg
}

// hostileDir makes the home's working directory a repository with these files.
func (c cli) hostileDir(t *testing.T, files map[string]string) hostileDir {
	t.Helper()
	f := newHostileDir(t, loopback.Always(loopback.Text(hello)))
	repository(t, c.home.Work)
	f.plant(t, c.home.Work, gitFiles)
	f.plant(t, c.home.Work, files)
	return f
}

// trustInCLI makes the CLI's own settings trust the working directory.
func (c cli) trustInCLI(t *testing.T) {
	t.Helper()
	switch c.home.Name {
	case home.Claude:
		c.home.Write(t, ".claude.json", fmt.Sprintf(`{"projects": {%q: {"hasTrustDialogAccepted": true}}}`, c.home.Work))
		return
	case home.Gemini:
		c.home.Write(t, ".gemini/trustedFolders.json", fmt.Sprintf(`{%q: "TRUST_FOLDER"}`, c.home.Work))
		return
	case home.Copilot:
		c.home.Write(t, ".copilot/config.json", fmt.Sprintf(`{"trustedFolders": [%q]}`, c.home.Work))
		return
	case home.Kimi:
		sum := sha256.Sum256([]byte(c.home.Work))
		c.home.Write(t, fmt.Sprintf(".kimi-code/workspace-trust/wd_work_%x", sum[:6]), fmt.Sprintf(`{"root": %q, "trustedAt": 1}`, c.home.Work))
		return
	case home.OpenCode: // opencode has no such setting
		return
	}
	path := filepath.Join(c.home.Dir, ".codex", "config.toml")
	config, err := os.ReadFile(path)
	require.NoError(t, err)
	c.home.Write(t, ".codex/config.toml", fmt.Sprintf("%s\n[projects.%q]\ntrust_level = \"trusted\"\n", config, c.home.Work))
}

// ask asks for a greeting in a directory and returns the files that took effect.
func (f hostileDir) ask(t *testing.T, c cli, access clichain.Access, dir string) []string {
	t.Helper()
	req := c.askIn(access, "say hi")
	req.Dir = dir
	require.NoError(t, os.MkdirAll(dir, 0o755))
	resp, err := c.Complete(t.Context(), req)
	require.NoError(t, err)
	require.Equal(t, hello, resp.Text)
	return f.seen(t, c.server)
}

// above puts the state directory and the directory for temporary files below the hostile directory.
func (f hostileDir) above(t *testing.T, c cli) {
	t.Helper()
	for _, name := range []string{"XDG_STATE_HOME", "TMPDIR"} {
		dir := filepath.Join(c.home.Work, strings.ToLower(name))
		require.NoError(t, os.MkdirAll(dir, 0o700))
		t.Setenv(name, dir)
	}
}

// below makes a call without access, with its directories below the hostile one, and returns the files that took
// effect.
func (f hostileDir) below(t *testing.T, c cli, text string) []string {
	t.Helper()
	f.above(t, c)
	resp, err := c.Complete(t.Context(), clichain.Prompt(text))
	require.NoError(t, err)
	require.Equal(t, hello, resp.Text)
	return f.seen(t, c.server)
}

// saying replaces an argument of a spec.
func saying(spec clichain.CliSpec, old, with string) clichain.CliSpec {
	for _, row := range spec.Args {
		if i := slices.Index(row.Args, old); i >= 0 {
			row.Args[i] = with
		}
	}
	return spec
}

// awaitFile waits until the file exists, for at most half of patience.
func awaitFile(path string) {
	for end := time.Now().Add(patience / 2); !fileExists(path) && time.Now().Before(end); {
		time.Sleep(5 * time.Millisecond)
	}
}

func fileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
