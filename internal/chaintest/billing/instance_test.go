package billing_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/cooldown"
	"github.com/clichain/clichain/doctor"
	"github.com/clichain/clichain/internal/chaintest"
	"github.com/clichain/clichain/specs"
)

// atItsLimit is a claude whose plan is exhausted for an hour.
func atItsLimit(record string) clitest.Scenario {
	const event = `{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":%d}}` + "\n" +
		`{"type":"result","is_error":true,"num_turns":1,"result":"You've hit your limit","session_id":"s1"}` + "\n"
	return chaintest.Play(clitest.Step{Record: record}, chaintest.Stdout(fmt.Sprintf(event, time.Now().Add(time.Hour).Unix())), clitest.Exit(1))
}

// pair is two instances of claude, made in Go or from a file: one is at its limit, the other answers.
type pair struct {
	work, personal *clichain.Provider
	homes, records [2]string
}

func (p pair) backends() []clichain.Backend { return []clichain.Backend{p.work, p.personal} }

// bothWays runs a test with instances made in Go, and with instances from a file.
func bothWays(t *testing.T, test func(t *testing.T, p pair)) {
	t.Helper()
	names := [2]string{"claude-work", "claude-personal"}
	make := func(t *testing.T, provider func(name, home, program string) *clichain.Provider) (p pair) {
		clitest.NoLeaks(t)
		chaintest.FreshState(t)
		t.Setenv("ANTHROPIC_API_KEY", "x")
		var made [2]*clichain.Provider
		for i, name := range names {
			p.homes[i], p.records[i] = t.TempDir(), filepath.Join(t.TempDir(), "record")
			plays := []clitest.Scenario{atItsLimit(p.records[i]), chaintest.ClaudeSays(p.records[i], "from "+name)}
			made[i] = provider(name, p.homes[i], clitest.Fake(t, "claude", plays[i]))
		}
		p.work, p.personal = made[0], made[1]
		return p
	}
	t.Run("Go", func(t *testing.T) {
		test(t, make(t, func(name, home, program string) *clichain.Provider {
			return clichain.NewProvider(specs.Claude(), &clichain.Config{
				Name: name, Binary: program, Env: []string{"CLAUDE_CONFIG_DIR=" + home},
			})
		}))
	})
	t.Run("file", func(t *testing.T) {
		test(t, make(t, func(name, home, program string) *clichain.Provider {
			file := fmt.Sprintf("instance_of: claude\nname: %s\nbinary: %s\nset_env: {CLAUDE_CONFIG_DIR: %s}\n", name, program, home)
			list, err := specs.Load(strings.NewReader(file))
			require.NoError(t, err)
			return clichain.NewProvider(list[0], nil)
		}))
	})
}

// Only the instance at its limit is in cooldown. Each instance has its own home, name and entry in SKIP_CLI.
func TestInstances(t *testing.T) {
	bothWays(t, func(t *testing.T, p pair) {
		chain := clichain.ChainOf(p.backends(), &clichain.ChainConfig{Store: cooldown.NewFile(filepath.Join(t.TempDir(), "c.json"), nil)})
		for _, want := range []clichain.Reason{clichain.ReasonUsageLimit, clichain.ReasonCoolingDown} {
			resp, err := chain.Complete(t.Context(), clichain.Prompt("hi"))
			require.NoError(t, err)
			require.Equal(t, "from claude-personal", resp.Text)
			require.Equal(t, []string{"claude-personal", "anthropic-cli"}, []string{resp.Backend, resp.Provider})
			require.Len(t, resp.Attempts, 1)
			require.Equal(t, []any{"claude-work", want}, []any{resp.Attempts[0].Backend, resp.Attempts[0].Reason})
		}
		for i, record := range p.records {
			r, err := clitest.ReadRecord(record)
			require.NoError(t, err)
			require.Contains(t, r.Env, "CLAUDE_CONFIG_DIR="+p.homes[i])
		}
		require.NoError(t, chain.CoolingDown(t.Context(), p.personal))
		require.Error(t, chain.CoolingDown(t.Context(), p.work))
		for list, want := range map[string][2]bool{
			"claude-work": {true, false}, "claude-personal": {false, true}, "claude": {true, true}, "anthropic-cli": {true, true}, "codex": {},
		} {
			t.Setenv("SKIP_CLI", list)
			for i, one := range []*clichain.Provider{p.work, p.personal} {
				require.Equal(t, want[i], one.Status("").SuppressedBy == "SKIP_CLI", "%s with %s", one.Name(), list)
			}
		}
		t.Setenv("SKIP_CLI", "claude-work")
		resp, err := chain.Complete(t.Context(), clichain.Prompt("hi"))
		require.NoError(t, err)
		require.ErrorIs(t, resp.Attempts[0].Err, clichain.ErrSuppressed)
		t.Setenv("SKIP_CLI", "claude-personal")
		_, err = chain.Complete(t.Context(), clichain.Prompt("hi"))
		require.ErrorIs(t, err, clichain.ErrCoolingDown)
	})
}

// A session belongs to the instance that made it.
func TestSessionOfAnInstance(t *testing.T) {
	bothWays(t, func(t *testing.T, p pair) {
		resp, err := p.personal.Complete(t.Context(), clichain.Prompt("hi"))
		require.NoError(t, err)
		require.Equal(t, chaintest.HandleOf("claude-personal", chaintest.AnID), resp.Session)
		next := clichain.Prompt("and?")
		next.Session = resp.Session
		_, err = p.work.Complete(t.Context(), next)
		require.Contains(t, chaintest.RequireReason(t, clichain.ReasonUnsupported, err).Message, "belongs to claude-personal")
		_, err = p.personal.Complete(t.Context(), next)
		require.NoError(t, err)
		r, err := clitest.ReadRecord(p.records[1])
		require.NoError(t, err)
		require.Contains(t, r.Args, chaintest.AnID)
	})
}

// The name of an instance addresses its model; the slug of the spec addresses all instances.
func TestModelOfAnInstance(t *testing.T) {
	bothWays(t, func(t *testing.T, p pair) {
		for model, want := range map[string]clichain.Reason{
			"claude-personal/opus": clichain.ReasonModelMismatch, "claude-personal": clichain.ReasonModelMismatch,
			"anthropic-cli/opus": clichain.ReasonUsageLimit, "opus": clichain.ReasonUsageLimit,
		} {
			req := clichain.Prompt("hi")
			req.Model = model
			resp, err := clichain.ChainOf(p.backends(), nil).Complete(t.Context(), req)
			require.NoError(t, err, model)
			require.Equal(t, want, resp.Attempts[0].Reason, model)
		}
	})
}

// Each instance has its own login, and a hint names its own home.
func TestLoginOfAnInstance(t *testing.T) {
	home, _ := chaintest.FreshMachine(t, chaintest.Play(chaintest.Stdout("never")))
	chaintest.Write(t, home, ".claude-work/.credentials.json", `{"claudeAiOauth":{"accessToken":"a","refreshToken":"b","expiresAt":1}}`)
	list, err := specs.Load(strings.NewReader(`
- {instance_of: claude, name: claude-work, set_env: {CLAUDE_CONFIG_DIR: ~/.claude-work}}
- {instance_of: claude, name: claude-personal, set_env: {CLAUDE_CONFIG_DIR: "${PERSONAL:-~/.claude-own}"}}
`))
	require.NoError(t, err)
	var backends []clichain.Backend
	for _, spec := range list {
		backends = append(backends, clichain.NewProvider(spec, nil))
	}
	work, personal := doctor.Diagnose(t.Context(), backends, nil).Backends[0], doctor.Diagnose(t.Context(), backends, nil).Backends[1]
	require.Equal(t, []any{"claude-work", clispec.LoginAuthenticated, filepath.Join(home, ".claude-work/.credentials.json"), call.BillingSubscription},
		[]any{work.Name, work.Login, work.Evidence, work.Billing})
	require.Equal(t, []any{"claude-personal", clispec.LoginInstalled}, []any{personal.Name, personal.Login})
	require.Equal(t, "run `CLAUDE_CONFIG_DIR=${PERSONAL:-~/.claude-own} claude` and log in with /login, or set ANTHROPIC_API_KEY",
		personal.Problems[0].Hint)
	t.Setenv("PERSONAL", filepath.Join(home, ".claude-work"))
	require.NoError(t, backends[1].(*clichain.Provider).Available(t.Context()), "the environment is read anew")
}

// An unknown value stops all calls, instead of showing the CLI another home.
func TestUnknownValueOfAnInstance(t *testing.T) {
	spec := specs.Codex()
	spec.SetEnv = map[string]string{"CODEX_HOME": "${NOWHERE_TO_BE_FOUND}/codex"}
	p := chaintest.Provider(t, spec, clichain.Config{Name: "codex-work"}, chaintest.Play(chaintest.Stdout(chaintest.CodexAnswer("no"))))
	_, err := p.Complete(t.Context(), clichain.Prompt("hi"))
	require.Contains(t, chaintest.RequireReason(t, clichain.ReasonBadOption, err).Message, "NOWHERE_TO_BE_FOUND is not set")
	require.Error(t, p.Validate())
	t.Setenv("NOWHERE_TO_BE_FOUND", t.TempDir())
	require.NoError(t, p.Validate())

	spec.SetEnv["CODEX_HOME"] = "~/.codex-work"
	inside := clichain.NewProvider(spec, &clichain.Config{Container: &clichain.Container{Name: "box"}})
	require.ErrorContains(t, inside.Validate(), "the home directory is unknown", "that inside of the container")
	require.NoError(t, clichain.NewProvider(spec, nil).Validate())
}

// Variables of the spec override the host's variables, and are overridden by its rows and the settings.
func TestSetEnv(t *testing.T) {
	record := filepath.Join(t.TempDir(), "record")
	spec := clichain.CliSpec{
		Name: "mini", Binary: "mini", PassEnv: []string{"MINI_*"},
		SetEnv: map[string]string{"MINI_HOST": "set", "MINI_ROW": "set", "MINI_CONFIG": "set", "MINI_EMPTY": "", "OTHER": "set"},
		Env:    []clispec.EnvRow{{Name: "MINI_ROW", Value: "row"}, {Name: "MINI_SEEN", Value: "yes", When: clispec.When{Env: []string{"OTHER"}}}},
	}
	for _, name := range []string{"MINI_HOST", "MINI_EMPTY", "MINI_LEFT"} {
		t.Setenv(name, "host")
	}
	p := chaintest.Provider(t, spec, clichain.Config{Env: []string{"MINI_CONFIG=config"}}, chaintest.Play(clitest.Step{Record: record}, chaintest.Stdout("fine")))
	_, err := p.Complete(t.Context(), clichain.Prompt("hi"))
	require.NoError(t, err)
	r, err := clitest.ReadRecord(record)
	require.NoError(t, err)
	require.Subset(t, r.Env, []string{
		"MINI_HOST=set", "MINI_EMPTY=", "MINI_LEFT=host", "MINI_ROW=row", "MINI_CONFIG=config", "OTHER=set", "MINI_SEEN=yes",
	})
}

// A key that the spec sets is withheld from a CLI whose plan pays.
func TestBillingOfAnInstance(t *testing.T) {
	record, home := filepath.Join(t.TempDir(), "record"), t.TempDir()
	chaintest.Write(t, home, ".credentials.json", `{"claudeAiOauth":{"accessToken":"a","refreshToken":"b","expiresAt":4102444800000,"subscriptionType":"max","scopes":["user:inference"]}}`)
	spec := specs.Claude()
	spec.SetEnv = map[string]string{"CLAUDE_CONFIG_DIR": home, "ANTHROPIC_API_KEY": "${KEY_OF_WORK}"}
	t.Setenv("KEY_OF_WORK", "x")
	p := chaintest.Provider(t, spec, clichain.Config{Name: "claude-work", Billing: call.BillingSubscription}, chaintest.ClaudeSays(record, "yes"))
	_, err := p.Complete(t.Context(), clichain.Prompt("hi"))
	require.NoError(t, err)
	r, err := clitest.ReadRecord(record)
	require.NoError(t, err)
	require.NotContains(t, strings.Join(r.Env, "\n"), "ANTHROPIC_API_KEY")
}

func TestNameOfAnInstance(t *testing.T) {
	t.Parallel()
	p := clichain.NewProvider(specs.Claude(), &clichain.Config{Name: "My Claude"})
	require.Equal(t, "My Claude", p.Name())
	require.ErrorContains(t, p.Validate(), `(config.name): "My Claude" must be lower-case`)
	require.ErrorContains(t, clichain.Config{Name: "-x"}.Validate(), "config.name")

	two := []clichain.CliSpec{specs.Claude(), specs.Codex()}
	err := clichain.NewChain(two, &clichain.ChainConfig{Config: clichain.Config{Name: "work"}}).Validate()
	require.ErrorContains(t, err, `has the name "work" of backends[0]: set Config.Name to give it a unique name`)
	require.NoError(t, clichain.NewChain(two[:1], &clichain.ChainConfig{Config: clichain.Config{Name: "work"}}).Validate())

	named := clichain.NewProvider(specs.Claude(), &clichain.Config{Name: "claude-work"})
	require.Equal(t, []string{"claude-work", "claude"}, []string{named.Spec().Name, named.Spec().InstanceOf})
	require.Equal(t, "claude", specs.Claude().Name)
}

// A process of one instance never answers for another instance, whatever they have in common.
func TestLiveInstances(t *testing.T) {
	t.Parallel()
	program, req := clitest.Fake(t, "claude", chaintest.Play(clitest.Exit(1))), clichain.Prompt("hi")
	req.Access, req.Dir = clichain.AccessRead, t.TempDir()
	keys := map[string]bool{}
	for _, name := range []string{"claude-a", "claude-b", "claude-a"} {
		p := clichain.NewProvider(specs.Claude(), &clichain.Config{Name: name, Binary: program})
		key, err := p.HoldKey(t.Context(), req)
		require.NoError(t, err)
		keys[key] = true
	}
	require.Len(t, keys, 2)
}
