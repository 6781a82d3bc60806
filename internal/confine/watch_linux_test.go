package confine

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
)

func TestWatch(t *testing.T) {
	for _, test := range []struct {
		name   string
		access call.Access
		change string // the file that the run writes, below the base
		want   string // after the path, "" for no warning
	}{
		{"settings of the CLI", call.AccessNone, "home/.agent/settings.json", "which acts at the next start"},
		{"hook of the CLI", call.AccessRead, "home/.agent/hooks/sub/new", "which acts at the next start"},
		{"session of the CLI", call.AccessWrite, "home/.agent/session", ""},
		{"new hook of git", call.AccessWrite, "project/.git/hooks/pre-commit", "which git runs outside the confinement"},
		{"sample hook of git", call.AccessWrite, "project/.git/hooks/pre-push.sample", ""},
		{"settings of git", call.AccessWrite, "project/.git/config", "which git reads outside the confinement"},
		{"settings of git at read", call.AccessRead, "project/.git/config", ""},
		{"hook in a configured directory", call.AccessWrite, "project/.hooks/pre-commit", "which git runs outside the confinement"},
		{"object of git", call.AccessWrite, "project/.git/objects/a", ""},
		{"repository in a new directory", call.AccessWrite, "fresh/.git/config", "which git reads outside the confinement"},
		{"full access", call.AccessFull, "home/.agent/settings.json", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			in, base := watchedInput(t, test.access)
			w := Watch(in)
			require.Empty(t, w.Changed(), "nothing has changed")
			path := filepath.Join(base, filepath.FromSlash(test.change))
			put(t, path, "other")
			warnings := w.Changed()
			if test.want == "" {
				require.Empty(t, warnings)
				return
			}
			require.Len(t, warnings, 1)
			require.Contains(t, warnings[0], path+", "+test.want)
		})
	}
}

// Clichain never runs git in a private copy of package workspace after the run.
func TestWatchSkipsRepositoryOfCopy(t *testing.T) {
	in, base := watchedInput(t, call.AccessWrite)
	t.Setenv("XDG_CACHE_HOME", filepath.Join(base, "cache"))
	in.Dir, in.AddDirs = filepath.Join(base, "cache/clichain/work/0a1b/1/project"), nil
	put(t, filepath.Join(in.Dir, ".git/config"), "")
	w := Watch(in)
	put(t, filepath.Join(in.Dir, ".git/config"), "other")
	put(t, filepath.Join(base, "home/.agent/settings.json"), "other")
	warnings := w.Changed()
	require.Len(t, warnings, 1)
	require.Contains(t, warnings[0], "settings.json")
}

func put(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}

// watchedInput returns a call in a repository, with a second directory that is none yet.
func watchedInput(t *testing.T, access call.Access) (in Input, base string) {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	for path, text := range map[string]string{
		"home/.agent/settings.json": "{}", "home/.agent/hooks/start": "", "home/.agent/session": "", "fresh/a": "",
		"project/.git/HEAD": "ref", "project/.git/config": "[core]\nhooksPath = .hooks\n", "project/.git/hooks/commit-msg": "",
	} {
		put(t, filepath.Join(base, filepath.FromSlash(path)), text)
	}
	return Input{
		Spec: &clispec.Spec{Confine: clispec.ConfineRules{
			State: []clispec.StatePath{{Path: "~/.agent", Watch: []string{"settings.json", "hooks"}}},
		}},
		Access: access, Env: []string{"HOME=" + filepath.Join(base, "home")},
		Dir: filepath.Join(base, "project"), AddDirs: []string{filepath.Join(base, "fresh")},
	}, base
}

func TestWatchKindsOfChange(t *testing.T) {
	in, base := watchedInput(t, call.AccessRead)
	settings, hook := filepath.Join(base, "home/.agent/settings.json"), filepath.Join(base, "home/.agent/hooks/start")
	w := Watch(in)

	put(t, settings, "{}")
	require.Empty(t, w.Changed(), "the content is the same")
	put(t, settings, "[]")
	require.Contains(t, w.Changed()[0], "the run changed "+settings)
	require.NoError(t, os.Remove(settings))
	require.Contains(t, w.Changed()[0], "the run removed "+settings)
	put(t, settings, "{}")

	require.NoError(t, os.Chmod(hook, 0o700))
	require.Contains(t, w.Changed()[0], "the run changed "+hook)
	require.NoError(t, os.Chmod(hook, 0o600))
	require.NoError(t, os.Rename(hook, hook+".old"))
	require.NoError(t, os.Symlink(hook+".old", hook))
	require.Len(t, w.Changed(), 2)
}

func TestWatchLimits(t *testing.T) {
	in, base := watchedInput(t, call.AccessRead)
	large := filepath.Join(base, "home/.agent/hooks/large")
	put(t, large, string(make([]byte, maxHashed+1)))
	w := Watch(in)
	require.Empty(t, w.Changed())
	put(t, large, string(make([]byte, maxHashed+2)))
	require.Len(t, w.Changed(), 1)
	for i := range 2 * maxWatched {
		put(t, filepath.Join(base, "home/.agent/hooks", fmt.Sprint(i)), "")
	}
	warnings := w.Changed()
	require.Len(t, warnings, maxWarnings+1)
	require.Contains(t, warnings[maxWarnings], "more files that act outside the confinement")
}
