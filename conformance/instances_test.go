package conformance_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
	"github.com/clichain/clichain/conformance/netns"
	"github.com/clichain/clichain/cooldown"
	"github.com/clichain/clichain/doctor"
	"github.com/clichain/clichain/specs"
)

// moves are environment variables that move a CLI's own files, with the path of these files in another home.
var moves = map[string]map[string]string{
	home.Claude: {"CLAUDE_CONFIG_DIR": ".claude"}, home.Codex: {"CODEX_HOME": ".codex"}, home.Gemini: {"GEMINI_CLI_HOME": ""},
	home.OpenCode: {"XDG_CONFIG_HOME": ".config", "XDG_DATA_HOME": ".local/share"},
}

// twoHomes returns two instances of one CLI, created in Go or from a file. They differ only in the variables that
// name the home, which contains the login and the server.
func twoHomes(t *testing.T, name string, fromFile bool, urls [2]string) (both [2]*clichain.Provider) {
	t.Helper()
	common := home.New(t, name, "http://127.0.0.1:1", home.LoggedOut) // for the program and HOME, which both instances share
	environ := slices.DeleteFunc(common.Env, func(kv string) bool { return strings.Contains(kv, "_BASE_URL=") })
	for i, url := range urls {
		own, variables := homeOf(t, name, url), map[string]string{}
		for variable, below := range moves[name] {
			variables[variable] = filepath.Join(own.Dir, below)
		}
		cfg := clichain.Config{Timeout: minute, Env: slices.Clone(environ)}
		spec, id := specOf(t, name), fmt.Sprintf("%s-%d", name, i)
		if fromFile {
			entry, err := json.Marshal(map[string]any{"instance_of": name, "name": id, "binary": common.Binary, "set_env": variables})
			require.NoError(t, err)
			list, err := specs.Load(strings.NewReader(string(entry)))
			require.NoError(t, err)
			spec = list[0]
		} else {
			cfg.Name, cfg.Binary = id, common.Binary
			for variable, value := range variables {
				cfg.Env = append(cfg.Env, variable+"="+value)
			}
		}
		both[i] = clichain.NewProvider(spec, &cfg)
	}
	return both
}

// homeOf returns a home with the login and the server of a CLI in files only.
func homeOf(t *testing.T, name, url string) home.Home {
	t.Helper()
	switch name {
	case home.Claude:
		h := home.New(t, name, url, home.Subscribed)
		h.Write(t, ".claude/settings.json", fmt.Sprintf(`{"env":{"ANTHROPIC_BASE_URL":%q}}`, url))
		return h
	case home.Gemini:
		h := home.New(t, name, url, home.LoggedIn)
		h.Write(t, ".gemini/.env", fmt.Sprintf("GEMINI_API_KEY=%s\nGOOGLE_GEMINI_BASE_URL=%s\n", home.Key, url))
		return h
	}
	return home.New(t, name, url, home.LoggedIn)
}

// bothForms runs a test with instances from Go and with instances from a file.
func bothForms(t *testing.T, test func(t *testing.T, fromFile bool)) {
	t.Helper()
	netns.Require(t)
	t.Run("Go", func(t *testing.T) { test(t, false) })
	t.Run("file", func(t *testing.T) { test(t, true) })
}

// Of two homes of claude, only the one whose plan is at its limit is in cooldown.
func TestInstanceAtItsLimit(t *testing.T) {
	reset := time.Now().Add(3 * time.Hour).Truncate(time.Hour)
	limit := loopback.Error(429, "rate_limit_error", "This request would exceed your account's rate limit. Please try again later.").
		With("anthropic-ratelimit-unified-status", "rejected").
		With("anthropic-ratelimit-unified-reset", fmt.Sprint(reset.Unix())).
		With("anthropic-ratelimit-unified-representative-claim", "five_hour").
		With("anthropic-ratelimit-unified-overage-status", "rejected")
	bothForms(t, func(t *testing.T, fromFile bool) {
		limited, healthy := loopback.New(t, loopback.Always(limit)), loopback.New(t, loopback.Always(loopback.Text(hello)))
		both := twoHomes(t, home.Claude, fromFile, [2]string{limited.URL, healthy.URL})
		store := cooldown.NewFile(filepath.Join(t.TempDir(), "cooldowns.json"), func(err error) { t.Error(err) })
		chain := clichain.ChainOf([]clichain.Backend{both[0], both[1]}, &clichain.ChainConfig{Store: store})
		asked := 0
		for _, want := range []clichain.Reason{clichain.ReasonUsageLimit, clichain.ReasonCoolingDown} {
			resp, err := chain.Complete(t.Context(), clichain.Prompt("say hi"))
			require.NoError(t, err)
			require.Equal(t, []string{"claude-1", hello}, []string{resp.Backend, resp.Text})
			require.Equal(t, call.BillingSubscription, resp.Billing)
			require.Equal(t, []any{"claude-0", want}, []any{resp.Attempts[0].Backend, resp.Attempts[0].Reason})
			if want == clichain.ReasonUsageLimit {
				asked = len(limited.Requests())
				require.Positive(t, asked)
			}
		}
		require.Len(t, limited.Requests(), asked, "it is in cooldown")
		var resting *clichain.BackendError
		require.ErrorAs(t, chain.CoolingDown(t.Context(), both[0]), &resting)
		require.WithinDuration(t, reset, resting.RetryAfter, time.Minute)
		require.NoError(t, chain.CoolingDown(t.Context(), both[1]))

		t.Setenv("SKIP_CLI", "claude-0")
		resp, err := chain.Complete(t.Context(), clichain.Prompt("say hi"))
		require.NoError(t, err)
		require.Equal(t, clichain.ReasonSuppressed, resp.Attempts[0].Reason)
		t.Setenv("SKIP_CLI", "claude")
		_, err = chain.Complete(t.Context(), clichain.Prompt("say hi"))
		require.ErrorIs(t, err, clichain.ErrSuppressed)
	})
}

// The variables in docs/reference/specs.md select another home for each CLI: its server, its login and its sessions.
func TestInstancesUseOwnHomes(t *testing.T) {
	long(t)
	for _, name := range home.Names() {
		t.Run(name, func(t *testing.T) {
			bothForms(t, func(t *testing.T, fromFile bool) {
				servers := [2]*loopback.Server{}
				for i := range servers {
					servers[i] = loopback.New(t, loopback.Always(loopback.Text(fmt.Sprintf("from %d", i))))
				}
				both := twoHomes(t, name, fromFile, [2]string{servers[0].URL, servers[1].URL})
				req := clichain.Prompt("say hi")
				req.Access, req.Dir = clichain.AccessRead, t.TempDir() // without access, gemini reads no .env file of its home
				var handles [2]string
				for i, p := range both {
					resp, err := p.Complete(t.Context(), req)
					require.NoError(t, err)
					require.Equal(t, []string{fmt.Sprintf("%s-%d", name, i), fmt.Sprintf("from %d", i)}, []string{resp.Backend, resp.Text})
					handles[i] = resp.Session
				}
				req.Session = handles[1]
				_, err := both[0].Complete(t.Context(), req)
				require.ErrorIs(t, err, clichain.ErrUnsupported)
				resp, err := both[1].Complete(t.Context(), req)
				require.NoError(t, err)
				require.Equal(t, "from 1", resp.Text)
			})
		})
	}
}

// doctor examines each home. A login in one home is not a login in the other.
func TestDoctorOfInstances(t *testing.T) {
	bothForms(t, func(t *testing.T, fromFile bool) {
		server := loopback.New(t, loopback.Always(loopback.Text("never")))
		both := twoHomes(t, home.Claude, fromFile, [2]string{server.URL, server.URL})
		cfg := both[1].Config()
		cfg.Env = append(slices.Clone(cfg.Env), "CLAUDE_CONFIG_DIR="+t.TempDir())
		empty := clichain.NewProvider(both[1].Spec(), &cfg)
		report := doctor.Diagnose(t.Context(), []clichain.Backend{both[0], empty}, &doctor.Config{Probe: true, ProbeTimeout: minute})
		one, other := report.Backends[0], report.Backends[1]
		require.Equal(t, "authenticated", string(one.Login), "%+v", one)
		require.Contains(t, one.Evidence, ".claude/.credentials.json; `claude ")
		require.NotEqual(t, "authenticated", string(other.Login), "%+v", other)
		require.Empty(t, server.Requests())
	})
}
