package settings_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/settings"
)

// put writes a settings file in a new directory.
func put(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

const example = `order: [codex, claude]
timeout: 60s
specs:
  - mine.yaml
  - ~/more.yaml
billing: subscription
usage.log: on
profiles:
  ci:
    timeout: 20s
    billing: any
    cooldowns: off
  work: {order: [claude], cooldowns: work.json, agent_timeout: 20m, budget: 2m}
`

func TestLoad(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	path := put(t, example)
	dir := filepath.Dir(path)
	f, err := settings.Load(path)
	require.NoError(t, err)
	require.Equal(t, settings.Values{
		Order: []string{"codex", "claude"}, Timeout: settings.Duration(time.Minute), Billing: "subscription", UsageLog: settings.On,
		Specs: []string{filepath.Join(dir, "mine.yaml"), filepath.Join(home, "more.yaml")},
	}, f.Values)
	require.Equal(t, map[string]settings.Values{
		"ci": {Timeout: settings.Duration(20 * time.Second), Billing: settings.PayerAny, Cooldowns: "off"},
		"work": {
			Order: []string{"claude"}, Cooldowns: filepath.Join(dir, "work.json"),
			AgentTimeout: settings.Duration(20 * time.Minute), Budget: settings.Duration(2 * time.Minute),
		},
	}, f.Profiles)
	require.Equal(t, call.BillingSubscription, f.Billing.Billing())
	require.Empty(t, f.Profiles["ci"].Billing.Billing())
	require.Equal(t, "1m0s", f.Timeout.String())
	require.Empty(t, f.Budget.String())

	for _, test := range []struct {
		profile, field string
		want           int
	}{
		{"", "order", 1}, {"", "specs", 3}, {"", "usage.log", 7}, {"ci", "timeout", 10}, {"work", "budget", 13},
		{"", "budget", 0}, {"ci", "order", 0}, {"nobody", "order", 0},
	} {
		require.Equal(t, test.want, f.Line(test.profile, test.field), "%+v", test)
	}
}

// An empty file and the zero value set no setting.
func TestLoadEmptyFile(t *testing.T) {
	for _, text := range []string{"", "# nothing\n", "order:\nprofiles:\n"} {
		f, err := settings.Load(put(t, text))
		require.NoError(t, err, "%q", text)
		require.Zero(t, f.Values)
		require.Zero(t, f.Line("", "timeout"))
		require.Zero(t, f.Line("ci", "timeout"))
	}
	require.Zero(t, new(settings.File).Line("ci", "order"))
}

func TestLoadErrors(t *testing.T) {
	const key = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789"
	for _, test := range []struct{ name, text, want string }{
		{"misspelled field", "tiemout: 60s", "line 1:1: tiemout: unknown field; did you mean timeout?"},
		{"misspelled profiles", "profile: {}", "line 1:1: profile: unknown field; did you mean profiles?"},
		{"unknown field", "colour: red", "line 1:1: colour: unknown field; the known fields are accounts, agent_timeout, billing, budget, confine, conversations, conversations.age, cooldowns, order, profiles, reserve, specs, timeout, usage.content, usage.log"},
		{"misspelled field in a profile", "profiles:\n  ci:\n    oder: [a]", "line 3:5: profiles.ci.oder: unknown field; did you mean order?"},
		{"profiles in a profile", "profiles:\n  ci:\n    profiles: {}", "line 3:5: profiles.ci.profiles: unknown field"},
		{"duration without a unit", "timeout: 60", `line 1:10: timeout: is "60": use a positive duration with a unit, such as 90s or 5m`},
		{"negative duration", "budget: -1s", `line 1:9: budget: is "-1s": use a positive duration`},
		{"unknown payer", "billing: me", `line 1:10: billing: is "me": use subscription, api_key or any`},
		{"accounts as a map", "accounts: {claude: team}", "line 1:11: accounts: is a map"},
		{"account without a backend", "accounts: team", `line 1:11: accounts: has "team": write backend=account, such as claude=team,codex=work`},
		{"backend without an account", "accounts: claude=", `line 1:11: accounts: has "claude=": write backend=account`},
		{"two accounts", "accounts: claude=a,claude=b", "line 1:11: accounts: has two accounts of claude: keep one of them"},
		{"reserve above one", "reserve: 30", "line 1:10: reserve: share is 30: use a share from 0 to 1, such as 0.3 for 30 %"},
		{"unknown confinement", "confine: me", `line 1:10: confine: is "me": use auto, required or off`},
		{"unknown switch", "usage.log: yes", `line 1:12: usage.log: is "yes": use on or off`},
		{"text instead of a list", "order: claude", `line 1:8: order: is "claude", want a list`},
		{"empty list", "order: []", "line 1:8: order: is empty"},
		{"empty name", "profiles: {ci: {specs: [a, '']}}", "line 1:28: profiles.ci.specs[1]: is empty"},
		{"text instead of a profile", "profiles: {ci: fast}", `profiles.ci: is "fast", want a map`},
		{"profile without a name", "profiles: {'': {budget: 1s}}", "has a profile without a name"},
		{"duplicate field", "timeout: 1s\ntimeout: 2s", "line 2:1: timeout: appears twice; the first is on line 1"},
		{"list instead of a map", "- order", "line 1:1: is a list, want a map"},
		{"two documents", "timeout: 1s\n---\ntimeout: 2s", "line 3:1: is a second document"},
		{"invalid YAML", "order: [", "line "},
		{"secret as a value", "cooldowns: " + key, "line 1:12: cooldowns: looks like a secret"},
		{"secret with a wrong type", "timeout: " + key, "line 1:10: timeout: looks like a secret"},
		{"secret in an unknown field", "api_key: " + key, "line 1:10: api_key: looks like a secret"},
		{"secret as a field name", key + ": 1", "line 1:1: [redacted]: looks like a secret"},
		{"secret as a profile name", "profiles: {" + key + ": {}}", "line 1:12: profiles.[redacted]: looks like a secret"},
		{"secret in a path", "specs: ['https://me:" + key + "@h/x.yaml']", "line 1:9: specs[0]: looks like a secret"},
		{"secret in an alias", "specs: &a [" + key + "]\norder: *a", "looks like a secret"},
		{"merged map", "profiles:\n  a: &a {budget: 1s}\n  b: {<<: *a}", "<<"},
		{"tag", "order: !!python/object [a]", "order: has the tag"},
		{"number without a unit", "timeout: 1e3", `is "1e3": use a positive`},
		{"secret in invalid YAML", "order: [" + key + "\n", "line "},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := put(t, test.text)
			_, err := settings.Load(path)
			var all *settings.LoadError
			require.ErrorAs(t, err, &all)
			require.Contains(t, err.Error(), "settings: "+path+": ")
			require.Contains(t, err.Error(), test.want)
			require.NotContains(t, err.Error(), key)
		})
	}
}

// A LoadError contains all errors, in the order of the file.
func TestLoadReportsAllErrors(t *testing.T) {
	_, err := settings.Load(put(t, "profiles: {ci: {a: 1}}\nbilling: me\nb: 2\n"))
	var all *settings.LoadError
	require.ErrorAs(t, err, &all)
	require.Len(t, all.Problems, 3)
	for i, p := range all.Problems {
		require.Equal(t, i+1, p.Line)
	}
}

// Load refuses a file that other users could change.
func TestLoadRejectsUnsafeFiles(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no file modes")
	}
	for _, test := range []struct {
		name    string
		arrange func(t *testing.T, path string) (read string)
		want    string
	}{
		{"group-writable file", chmod(0o620, ""), "others may write to"},
		{"world-writable file", chmod(0o602, ""), "chmod go-w"},
		{"world-writable directory", chmod(0o777, "."), "others may write to"},
		{"world-writable parent directory", chmod(0o777, ".."), "others may write to"},
		{"sticky parent directory", chmod(0o777|fs.ModeSticky, ".."), ""},
		{"link to the file", link, ""},
		{"link to a world-writable file", func(t *testing.T, path string) string {
			require.NoError(t, os.Chmod(path, 0o666))
			return link(t, path)
		}, "others may write to"},
		{"link in a world-writable directory", func(t *testing.T, path string) string {
			path = link(t, path)
			require.NoError(t, os.Chmod(filepath.Dir(path), 0o777))
			return path
		}, "others may write to"},
		{"sticky world-writable file", chmod(0o602|fs.ModeSticky, ""), "others may write to"},
		{"link to a link in a world-writable directory", func(t *testing.T, path string) string {
			path = link(t, path)
			first := link(t, path)
			require.NoError(t, os.Chmod(filepath.Dir(path), 0o777))
			return first
		}, "others may write to"},
		{"link to a directory through a world-writable directory", func(t *testing.T, path string) string {
			dir := link(t, filepath.Dir(path))
			first := link(t, dir)
			require.NoError(t, os.Chmod(filepath.Dir(dir), 0o777))
			return filepath.Join(first, filepath.Base(path))
		}, "others may write to"},
		{"relative link", func(t *testing.T, path string) string {
			other := filepath.Join(t.TempDir(), "config.yaml")
			to, err := filepath.Rel(filepath.Dir(other), path)
			require.NoError(t, err)
			require.NoError(t, os.Symlink(to, other))
			return other
		}, ""},
		{"link to itself", func(t *testing.T, path string) string {
			require.NoError(t, os.Remove(path))
			require.NoError(t, os.Symlink(path, path))
			return path
		}, "too many symbolic links"},
		{"file of another user", chown(func(path string) string { return path }), "belongs to another user"},
		{"directory of another user", chown(filepath.Dir), "belongs to another user"},
		{"link of another user in a sticky directory", func(t *testing.T, path string) string {
			path = link(t, path)
			require.NoError(t, os.Chmod(filepath.Dir(path), 0o777|fs.ModeSticky))
			return chown(func(path string) string { return path })(t, path)
		}, "belongs to another user"},
		{"named pipe", func(t *testing.T, path string) string {
			require.NoError(t, os.Remove(path))
			if out, err := exec.Command("mkfifo", path).CombinedOutput(); err != nil {
				t.Skipf("mkfifo is not installed: %v: %s", err, out)
			}
			return path
		}, "not a regular file"},
		{"directory", func(_ *testing.T, path string) string { return filepath.Dir(path) }, "not a regular file"},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "clichain", "config.yaml")
			require.NoError(t, os.Mkdir(filepath.Dir(path), 0o700))
			require.NoError(t, os.WriteFile(path, []byte("timeout: 1s\n"), 0o600))
			path = test.arrange(t, path)
			_, err := settings.Load(path)
			if test.want == "" {
				require.NoError(t, err)
				require.NoError(t, settings.CheckFile(path))
				return
			}
			if test.want != "not a regular file" { // only Load checks the type of the file
				require.ErrorContains(t, settings.CheckFile(path), test.want)
			}
			require.ErrorContains(t, err, test.want)
			require.NotErrorIs(t, err, fs.ErrNotExist)
		})
	}
}

// chmod returns a function that sets the mode of the file, or of the directory with the relative path above.
func chmod(mode fs.FileMode, above string) func(*testing.T, string) string {
	return func(t *testing.T, path string) string {
		changed := path
		if above != "" {
			changed = filepath.Join(filepath.Dir(path), above)
		}
		require.NoError(t, os.Chmod(changed, mode))
		return path
	}
}

// chown returns a function that changes the owner of the path that at returns. It needs root.
func chown(at func(path string) string) func(*testing.T, string) string {
	return func(t *testing.T, path string) string {
		if os.Geteuid() != 0 {
			t.Skip("needs root")
		}
		require.NoError(t, os.Lchown(at(path), 12345, -1))
		return path
	}
}

// link returns a link to the file in a new directory.
func link(t *testing.T, path string) string {
	other := filepath.Join(t.TempDir(), "config.yaml")
	require.NoError(t, os.Symlink(path, other))
	return other
}

func TestLoadMissing(t *testing.T) {
	_, err := settings.Load(filepath.Join(t.TempDir(), "none", "config.yaml"))
	require.ErrorIs(t, err, fs.ErrNotExist)
	big := put(t, strings.Repeat("#", 2<<20))
	_, err = settings.Load(big)
	require.ErrorContains(t, err, "too large")
}

// A relative XDG_CONFIG_HOME is ignored, because it would depend on the working directory.
func TestDefaultPath(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	for dir, want := range map[string]string{
		"": filepath.Join(home, ".config"), "relative": filepath.Join(home, ".config"), ".": filepath.Join(home, ".config"),
		home + "/other": home + "/other",
	} {
		t.Setenv("XDG_CONFIG_HOME", dir)
		got, err := settings.DefaultPath()
		require.NoError(t, err)
		require.Equal(t, filepath.Join(want, "clichain", "config.yaml"), got, dir)
	}
	t.Setenv("XDG_CONFIG_HOME", "")
	t.Setenv("HOME", "here")
	t.Setenv("USERPROFILE", "here")
	_, err := settings.DefaultPath()
	require.Error(t, err)
}
