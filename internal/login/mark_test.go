package login

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/grammar"
	"github.com/clichain/clichain/specs"
)

// loginHome contains the files of logins in a home directory.
type loginHome struct {
	t     *testing.T
	at    grammar.Place
	clock time.Time
}

func newLoginHome(t *testing.T) *loginHome {
	dir := t.TempDir()
	work := filepath.Join(dir, "work")
	require.NoError(t, os.Mkdir(work, 0o700))
	at := grammar.Place{Vars: map[string]string{}, Home: dir, Dir: work}
	return &loginHome{t, at, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
}

// write writes a file with a new modification time. A cached result is valid until the stamp of the file
// changes, and clocks are coarse.
func (h *loginHome) write(name, text string) {
	h.t.Helper()
	path := filepath.Join(h.at.Home, name)
	require.NoError(h.t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(h.t, os.WriteFile(path, []byte(text), 0o600))
	h.touch(name)
}

func (h *loginHome) touch(name string) {
	h.t.Helper()
	h.clock = h.clock.Add(time.Minute)
	require.NoError(h.t, os.Chtimes(filepath.Join(h.at.Home, name), h.clock, h.clock))
}

func (h *loginHome) remove(name string) {
	h.t.Helper()
	require.NoError(h.t, os.Remove(filepath.Join(h.at.Home, name)))
}

// asked returns rules with one way to log in for each kind of file.
func asked() clispec.LoginRules {
	files := func(f clispec.FileFact) clispec.LoginWay { return clispec.LoginWay{Files: []clispec.FileFact{f}} }
	return clispec.LoginRules{Ways: []clispec.LoginWay{
		files(clispec.FileFact{Path: "~/plan.json", JSON: map[string]string{"token": ".+"}, Expires: "ends", Refresh: "renewal"}),
		files(clispec.FileFact{Path: "~/settings.json", JSON: map[string]string{"key": ".+", "mode": "api|key"}}),
		files(clispec.FileFact{Path: "~/names.json", Keys: "secret_\\w+"}),
		files(clispec.FileFact{Path: "~/.env", Pattern: `(?m)^KEY=\S+$`}),
		files(clispec.FileFact{Path: "~/there"}),
		files(clispec.FileFact{Path: "${MINE_FILE}", JSON: map[string]string{"key": ".+"}}),
	}}
}

// change is a change to the file of a login.
type change struct {
	name          string
	file          string
	before, after string // the text of the file; "": no file
}

var sameLogins = []change{
	{"a file without a credential appears", "settings.json", "", `{"starts":1}`},
	{"and goes", "settings.json", `{"starts":1}`, ""},
	{"and changes", "settings.json", `{"starts":1}`, `{"starts":2}`},
	{"a credential for another mode", "settings.json", "", `{"key":"k1","mode":"none"}`},
	{"a counter beside a key", "settings.json", `{"key":"k1","mode":"api","starts":1}`, `{"key":"k1","mode":"api","starts":2}`},
	{"another order", "settings.json", `{"key":"k1","mode":"api","starts":1}`, "{\n  \"starts\": 1, \"mode\": \"api\", \"key\": \"k1\"\n}\n"},
	{"a counter beside a plan", "plan.json", `{"token":"t1","renewal":"r1","starts":1}`, `{"token":"t1","renewal":"r1","starts":[2]}`},
	{"a renewed token", "plan.json", `{"token":"t1","ends":1,"renewal":"r1"}`, `{"token":"t2","ends":2,"renewal":"r1"}`},
	{"a variable of no login", ".env", "", "OTHER=1\n"},
}

var otherLogins = []change{
	{"a key appears", "settings.json", "", `{"key":"k1","mode":"api"}`},
	{"a key disappears with its file", "settings.json", `{"key":"k1","mode":"api"}`, ""},
	{"a key appears in its file", "settings.json", `{"starts":1}`, `{"starts":1,"key":"k1","mode":"api"}`},
	{"a key disappears from its file", "settings.json", `{"key":"k1","mode":"api"}`, `{"mode":"api"}`},
	{"another key", "settings.json", `{"key":"k1","mode":"api"}`, `{"key":"k2","mode":"api"}`},
	{"another mode", "settings.json", `{"key":"k1","mode":"api"}`, `{"key":"k1","mode":"key"}`},
	{"keys that change places", "settings.json", `{"key":"api","mode":"key"}`, `{"key":"key","mode":"api"}`},
	{"a plan appears", "plan.json", "", `{"token":"t1","renewal":"r1"}`},
	{"a plan disappears", "plan.json", `{"token":"t1","renewal":"r1"}`, ""},
	{"another plan", "plan.json", `{"token":"t1","renewal":"r1"}`, `{"token":"t1","renewal":"r2"}`},
	{"a plan after logout", "plan.json", `{"token":"t1","renewal":"r1"}`, `{"token":"","renewal":"r1"}`},
	{"a token without renewal", "plan.json", `{"token":"t1"}`, `{"token":"t2"}`},
	{"a token with an empty renewal", "plan.json", `{"token":"t1","renewal":""}`, `{"token":"t2","renewal":""}`},
	{"a token with null as its renewal", "plan.json", `{"token":"t1","renewal":null}`, `{"token":"t2","renewal":null}`},
	{"a name appears", "names.json", `{"a":1}`, `{"secret_a":"s1"}`},
	{"another value of a name", "names.json", `{"secret_a":"s1"}`, `{"secret_a":"s2"}`},
	{"another name", "names.json", `{"secret_a":"s1"}`, `{"secret_b":"s1"}`},
	{"a name within", "names.json", `{"x":{"secret_a":"s1"}}`, `{"x":{"secret_a":"s2"}}`},
	{"another variable", ".env", "KEY=k1\n", "KEY=k2\n"},
	{"a file that is a login", "there", "", "x"},
	{"a removed file", "there", "x", ""},
	{"another file that is a login", "there", "x", "y"},
	{"broken JSON", "settings.json", `{"key":"k1","mode":"api"}`, `{"key":"k1","mode":"api"`},
}

// marks returns the marks of a prober that has read the file before, and of a new prober.
func (c change) marks(t *testing.T) (before, after string) {
	h := newLoginHome(t)
	prober := New(asked())
	put := func(text string) string {
		if text != "" {
			h.write(c.file, text)
		} else if _, err := os.Stat(filepath.Join(h.at.Home, c.file)); err == nil {
			h.remove(c.file)
		}
		mark := prober.Mark(h.at)
		require.Equal(t, mark, New(asked()).Mark(h.at), "whoever asks")
		require.Equal(t, mark, prober.Mark(h.at), "however often")
		return mark
	}
	return put(c.before), put(c.after)
}

func TestMarkUnchanged(t *testing.T) {
	for _, c := range sameLogins {
		t.Run(c.name, func(t *testing.T) {
			before, after := c.marks(t)
			require.Equal(t, before, after)
		})
	}
}

func TestMarkChanges(t *testing.T) {
	for _, c := range otherLogins {
		t.Run(c.name, func(t *testing.T) {
			before, after := c.marks(t)
			require.NotEqual(t, before, after)
		})
	}
}

func TestMarkIgnoresModificationTime(t *testing.T) {
	h := newLoginHome(t)
	prober := New(asked())
	texts := map[string]string{
		"plan.json": `{"token":"t1","renewal":"r1"}`, "settings.json": `{"key":"k1","mode":"api"}`,
		"names.json": `{"secret_a":"s1"}`, ".env": "KEY=k1\n",
	}
	for name, text := range texts {
		h.write(name, text)
	}
	mark := prober.Mark(h.at)
	for name, text := range texts {
		h.touch(name)
		require.Equal(t, mark, prober.Mark(h.at), name)
		h.remove(name)
		require.NotEqual(t, mark, prober.Mark(h.at), name)
		h.write(name, text)
		require.Equal(t, mark, prober.Mark(h.at), "%s: it is the same login again", name)
	}
}

// The same credential in another place may be in another user's directory.
func TestMarkFollowsVariables(t *testing.T) {
	h := newLoginHome(t)
	prober := New(asked())
	h.write("a.json", `{"key":"k1"}`)
	h.write("b.json", `{"key":"k2"}`)
	marks := map[string]string{}
	for _, name := range []string{"", "a.json", "b.json", "none.json"} {
		h.at.Vars["MINE_FILE"] = ""
		if name != "" {
			h.at.Vars["MINE_FILE"] = filepath.Join(h.at.Home, name)
		}
		marks[name] = prober.Mark(h.at)
	}
	require.NotEqual(t, marks[""], marks["a.json"])
	require.NotEqual(t, marks["a.json"], marks["b.json"])
	require.Equal(t, marks[""], marks["none.json"], "no file exists")
}

// Neither the mark nor the cache contains a secret.
func TestMarkContainsNoSecret(t *testing.T) {
	const secret = "sk-a1B2a1B2a1B2"
	h := newLoginHome(t)
	prober := New(asked())
	h.write("plan.json", `{"token":"`+secret+`","renewal":"`+secret+`"}`)
	h.write("settings.json", `{"key":"`+secret+`","mode":"api"}`)
	h.write("names.json", `{"secret_a":"`+secret+`"}`)
	h.write(".env", "KEY="+secret+"\n")
	require.Regexp(t, `^[0-9a-f]{16}$`, prober.Mark(h.at))
	require.NotEmpty(t, prober.files.seen)
	require.NotContains(t, fmt.Sprintf("%+v", prober.files.seen), secret)
}

// The files of the built-in CLIs. A CLI without a file here uses only environment variables, or a store of the
// system.
func TestMarkOfBuiltInSpecs(t *testing.T) {
	const codex = `{"auth_mode":"chatgpt","last_refresh":"%s","tokens":{"access_token":"%s","refresh_token":"%s"}}`
	for _, test := range []struct {
		name, file, text, noted, other string
		rules                          clispec.LoginRules
	}{
		{
			"claude: a plan", ".claude/.credentials.json", `{"claudeAiOauth":{"accessToken":"a1","refreshToken":"r1","expiresAt":1}}`,
			`{"claudeAiOauth":{"accessToken":"a2","refreshToken":"r1","expiresAt":2}}`,
			`{"claudeAiOauth":{"accessToken":"a1","refreshToken":"r2","expiresAt":1}}`, specs.Claude().Login,
		},
		{
			"claude: a key", ".claude.json", `{"primaryApiKey":"k1","numStartups":1}`, `{"primaryApiKey":"k1","numStartups":2}`,
			`{"primaryApiKey":"k2","numStartups":1}`, specs.Claude().Login,
		},
		{
			"claude: a key in the settings", ".claude/settings.json", `{"env":{"ANTHROPIC_API_KEY":"k1"},"theme":"a"}`,
			"", `{"env":{"ANTHROPIC_API_KEY":"k2"},"theme":"a"}`, specs.Claude().Login,
		},
		{
			"codex: a plan", ".codex/auth.json", fmt.Sprintf(codex, "1", "a1", "r1"), fmt.Sprintf(codex, "2", "a1", "r1"),
			fmt.Sprintf(codex, "1", "a1", "r2"), specs.Codex().Login,
		},
		{
			"codex: a key", ".codex/auth.json", `{"OPENAI_API_KEY":"k1","x":1}`, `{"OPENAI_API_KEY":"k1","x":2}`, `{"OPENAI_API_KEY":"k2","x":1}`,
			specs.Codex().Login,
		},
		{
			"gemini: a plan", ".gemini/oauth_creds.json", `{"access_token":"a1","refresh_token":"r1","expiry_date":1}`,
			`{"access_token":"a2","refresh_token":"r1","expiry_date":2}`, `{"access_token":"a1","refresh_token":"r2","expiry_date":1}`,
			specs.Gemini().Login,
		},
		{
			"gemini: a key", ".gemini/.env", "GEMINI_API_KEY=k1\n", "", "GEMINI_API_KEY=k2\n", specs.Gemini().Login,
		},
		{
			"opencode", ".local/share/opencode/auth.json", `{"openai":{"type":"api","key":"k1"}}`, "",
			`{"openai":{"type":"api","key":"k2"}}`, specs.OpenCode().Login,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := newLoginHome(t)
			prober := New(test.rules)
			h.write(test.file, test.text)
			mark := prober.Mark(h.at)
			h.touch(test.file)
			require.Equal(t, mark, prober.Mark(h.at), "the file was touched")
			if test.noted != "" { // otherwise the credential is the whole file
				h.write(test.file, test.noted)
				require.Equal(t, mark, prober.Mark(h.at), "something was noted beside it")
			}
			h.write(test.file, test.other)
			require.NotEqual(t, mark, prober.Mark(h.at), "it is another login")
		})
	}
}
