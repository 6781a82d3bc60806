package conformance_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/netns"
	"github.com/clichain/clichain/doctor"
	"github.com/clichain/clichain/specs"
)

// nowhere is the address of a server that does not exist. doctor sends no requests.
const nowhere = "http://127.0.0.1:9"

// bare returns a home without any setup. It has no files, and its environment contains only the paths of the
// programs.
func bare(t *testing.T, name string) home.Home {
	t.Helper()
	h := home.New(t, name, nowhere, home.LoggedOut)
	for _, name := range []string{".codex", ".config"} {
		require.NoError(t, os.RemoveAll(filepath.Join(h.Dir, name)))
	}
	h.Env = slices.DeleteFunc(h.Env, func(kv string) bool { return strings.Contains(kv, nowhere) })
	h.Env = append(h.Env, "PATH="+filepath.Dir(h.Binary)+":"+os.Getenv("PATH"))
	return h
}

// checkup returns the diagnosis of a home's CLI.
func checkup(t *testing.T, program string, h home.Home, args ...string) doctor.Diagnosis {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, append([]string{"doctor", "--json"}, args...)...)
	cmd.Dir, cmd.Env = h.Work, h.Env
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		var exit *exec.ExitError
		require.True(t, errors.As(err, &exit) && exit.ExitCode() == 3, "%v: %s", err, stderr.String())
	}
	var report doctor.Report
	require.NoError(t, json.Unmarshal(stdout.Bytes(), &report), stdout.String())
	require.NotContains(t, stdout.String(), home.Key, "the report contains a key")
	i := slices.IndexFunc(report.Backends, func(d doctor.Diagnosis) bool { return d.Name == h.Name })
	require.GreaterOrEqual(t, i, 0)
	return report.Backends[i]
}

const (
	signedIn  = clispec.LoginAuthenticated
	signedOut = clispec.LoginInstalled
	unclear   = clispec.LoginUnknown
)

// logins are homes with the diagnosis of their login.
var logins = []struct {
	name, cli string
	env       []string
	files     map[string]string
	want      clispec.LoginState
	billing   call.Billing
	code      string // of a problem
}{
	{name: "fresh machine", cli: home.Claude, want: signedOut, code: "unauthenticated"},
	{name: "fresh machine", cli: home.Codex, want: signedOut, code: "unauthenticated"},
	{name: "fresh machine", cli: home.Gemini, want: signedOut, code: "unauthenticated"},
	{name: "fresh machine", cli: home.OpenCode, want: unclear}, // some of its models need no login

	{name: "key", cli: home.Claude, env: []string{"ANTHROPIC_API_KEY=" + home.Key}, want: signedIn, billing: call.BillingAPIKey},
	{name: "key", cli: home.Codex, env: []string{"CODEX_API_KEY=" + home.Key}, want: signedIn, billing: call.BillingAPIKey},
	{name: "key file", cli: home.Codex, files: map[string]string{".codex/auth.json": `{"auth_mode":"apikey","OPENAI_API_KEY":"loopback"}`}, want: signedIn, billing: call.BillingAPIKey},
	{name: "key", cli: home.Gemini, env: []string{"GEMINI_API_KEY=" + home.Key}, want: signedIn, billing: call.BillingAPIKey},
	{name: "key file", cli: home.OpenCode, files: map[string]string{".local/share/opencode/auth.json": `{"anthropic":{"type":"api","key":"loopback"}}`}, want: signedIn},
	{name: "key file", cli: home.Cline, files: map[string]string{".cline/data/settings/providers.json": `{"lastUsedProvider":"anthropic","providers":{"anthropic":{"settings":{"provider":"anthropic","apiKey":"loopback"}}}}`}, want: unclear}, // the key of one of its providers

	{name: "plan", cli: home.Claude, files: map[string]string{".claude/.credentials.json": `{"claudeAiOauth":{"accessToken":"loopback","refreshToken":"loopback","expiresAt":4102444800000,"scopes":["user:inference"],"subscriptionType":"max"}}`}, want: signedIn, billing: call.BillingSubscription},
	{name: "plan", cli: home.Codex, files: map[string]string{".codex/auth.json": `{"tokens":{"access_token":"loopback","refresh_token":"loopback","id_token":"loopback"}}`}, want: signedIn, billing: call.BillingSubscription},
	{name: "plan", cli: home.Gemini, files: map[string]string{".gemini/settings.json": `{"security":{"auth":{"selectedType":"oauth-personal"}}}`, ".gemini/oauth_creds.json": `{"refresh_token":"loopback","expiry_date":4102444800000}`}, want: unclear, billing: call.BillingSubscription, code: "unproven_login"}, // the service refuses individuals
	{name: "plan", cli: home.OpenCode, files: map[string]string{".local/share/opencode/auth.json": `{"openai":{"type":"oauth","access":"loopback","refresh":"loopback","expires":4102444800000}}`}, want: signedIn},

	{name: "logged out", cli: home.Claude, files: map[string]string{".claude/.credentials.json": `{}`, ".claude.json": `{"numStartups":3}`}, want: signedOut, code: "unauthenticated"},
	{name: "logged out", cli: home.Codex, files: map[string]string{".codex/version.json": `{}`, ".codex/config.toml": "model = \"gpt-5.5\"\n"}, want: signedOut, code: "unauthenticated"},
	{name: "logged out", cli: home.Gemini, files: map[string]string{".gemini/settings.json": `{"ui":{"theme":"Default"}}`, ".gemini/projects.json": `{}`}, want: signedOut, code: "unauthenticated"},
	{name: "logged out", cli: home.Cline, files: map[string]string{".cline/data/settings/providers.json": `{"version":1,"providers":{}}`}, want: signedOut, code: "unauthenticated"},
	{name: "logged out", cli: home.OpenCode, files: map[string]string{".local/share/opencode/auth.json": `{}`}, want: unclear},

	{name: "expired file", cli: home.Claude, files: map[string]string{".claude/.credentials.json": `{"claudeAiOauth":{"accessToken":"loopback","expiresAt":1}}`}, want: unclear, billing: call.BillingSubscription, code: "credential_expired"},
	{name: "expired file with a refresh token", cli: home.Claude, files: map[string]string{".claude/.credentials.json": `{"claudeAiOauth":{"accessToken":"loopback","refreshToken":"loopback","expiresAt":1}}`}, want: signedIn, billing: call.BillingSubscription},
	{name: "expired file", cli: home.Codex, files: map[string]string{".codex/auth.json": `{"tokens":{"access_token":"h.eyJleHAiOjF9.s"}}`}, want: unclear, billing: call.BillingSubscription, code: "credential_expired"},

	{name: "settings.json selects an API key that is not set", cli: home.Gemini, files: map[string]string{".gemini/settings.json": `{"security":{"auth":{"selectedType":"gemini-api-key"}}}`}, want: unclear},
	{name: "custom provider", cli: home.Codex, files: map[string]string{".codex/config.toml": "model_provider = \"loop\"\n"}, want: unclear},
	{name: "key helper", cli: home.Claude, files: map[string]string{".claude/settings.json": `{"apiKeyHelper":"echo loopback"}`}, want: unclear},

	{name: "untrusted directory", cli: home.Codex, env: []string{"CODEX_API_KEY=" + home.Key}, want: signedIn, billing: call.BillingAPIKey, code: "untrusted_folder"},
	{name: "untrusted directory", cli: home.Gemini, env: []string{"GEMINI_API_KEY=" + home.Key}, want: signedIn, billing: call.BillingAPIKey, code: "untrusted_folder"},

	{name: "suppressed", cli: home.Claude, env: []string{"SKIP_CLI=claude", "ANTHROPIC_API_KEY=" + home.Key}, want: signedIn, billing: call.BillingAPIKey, code: "suppressed"},
	{name: "suppressed", cli: home.Codex, env: []string{"SKIP_CLI=1"}, want: signedOut, code: "suppressed"},
	{name: "suppressed", cli: home.Gemini, env: []string{"SKIP_CLI=google-cli"}, want: signedOut, code: "suppressed"},
	{name: "suppressed", cli: home.OpenCode, env: []string{"CLICHAIN_SKIP_CLI=yes"}, want: unclear, code: "suppressed"},

	{name: "nested", cli: home.Claude, env: []string{"CLAUDECODE=1", "ANTHROPIC_API_KEY=" + home.Key}, want: signedIn, billing: call.BillingAPIKey, code: "nested"},
	{name: "nested", cli: home.Codex, env: []string{"CODEX_THREAD_ID=1", "CODEX_API_KEY=" + home.Key}, want: signedIn, billing: call.BillingAPIKey, code: "nested"},
	{name: "nested", cli: home.Gemini, env: []string{"GEMINI_CLI=1", "GEMINI_API_KEY=" + home.Key}, want: signedIn, billing: call.BillingAPIKey, code: "nested"},
	{name: "nested", cli: home.OpenCode, env: []string{"OPENCODE_PID=1"}, want: unclear, code: "nested"},

	{name: "Nix build", cli: home.OpenCode, env: []string{"NIX_BUILD_TOP=/build"}, want: unclear, code: "suppressed"},
	{name: "Nix build", cli: home.Claude, env: []string{"NIX_BUILD_TOP=/build", "ANTHROPIC_API_KEY=" + home.Key}, want: signedIn, billing: call.BillingAPIKey, code: "suppressed"}, // a build has no network
}

func TestDoctorInEachHome(t *testing.T) {
	netns.Require(t)
	program := command(t)
	for _, test := range logins {
		t.Run(test.cli+" "+test.name, func(t *testing.T) {
			h := bare(t, test.cli)
			h.Env = append(h.Env, test.env...)
			for path, content := range test.files {
				h.Write(t, path, content)
			}
			d := checkup(t, program, h)
			require.True(t, d.Installed)
			require.Equal(t, test.want, d.Login, "%+v", d)
			require.Equal(t, test.billing, d.Billing)
			require.Equal(t, test.want == signedOut || test.code == "suppressed", !d.Ready())
			var codes []string
			for _, p := range d.Problems {
				codes = append(codes, p.Code)
			}
			if test.code != "" {
				require.Contains(t, codes, test.code)
			}
			root := test.cli == home.Claude && os.Geteuid() == 0
			require.Equal(t, root, slices.Contains(codes, "root_bypass"))
		})
	}
}

func TestDoctorInReadOnlyHome(t *testing.T) {
	netns.Require(t)
	program := command(t)
	for _, name := range home.Names() {
		out, err := inReadOnlyHome(t, bare(t, name), program, "doctor", "--json").CombinedOutput()
		var report doctor.Report
		if json.Unmarshal(out, &report) != nil {
			t.Skipf("cannot mount: %v: %s", err, out)
		}
		for _, d := range report.Backends {
			if d.Name == name {
				require.True(t, slices.ContainsFunc(d.Problems, func(p doctor.Problem) bool { return p.Code == "home_readonly" }), "%+v", d)
			}
		}
	}
}

// If doctor reports a CLI as logged out, the CLI itself must report that too. doctor does not start the CLI for it.
func TestLoggedOutAsReportedByCLI(t *testing.T) {
	netns.Require(t)
	for _, name := range []string{home.Claude, home.Gemini} {
		t.Run(name, func(t *testing.T) {
			h := bare(t, name)
			h.Apply(t)
			spec, ok := specs.ByName(name)
			require.True(t, ok)
			_, err := clichain.NewProvider(spec, nil).Complete(t.Context(), clichain.Prompt("hi"))
			require.ErrorIs(t, err, clichain.ErrUnauthenticated)
			require.Equal(t, call.StageSkipped, call.AsError(name, err).Stage)
			_, err = clichain.NewProvider(spec, &clichain.Config{Binary: h.Binary, Timeout: minute}).Complete(t.Context(), clichain.Prompt("hi"))
			require.ErrorIs(t, err, clichain.ErrUnauthenticated, "an explicit binary is started")
			require.Equal(t, call.StageStarted, call.AsError(name, err).Stage)
		})
	}
}

func TestDoctorProbesTheRealCLIs(t *testing.T) {
	netns.Require(t)
	for _, test := range []struct {
		cli      string
		env      string
		want     clispec.LoginState
		evidence string
	}{
		{home.Claude, "ANTHROPIC_API_KEY=" + home.Key, signedIn, "ANTHROPIC_API_KEY; `claude --setting-sources user auth status`"},
		{home.Claude, "CLAUDE_CODE_USE_BEDROCK=1", signedIn, "CLAUDE_CODE_USE_BEDROCK; `claude --setting-sources user auth status`"},
		{home.Claude, "ANTHROPIC_CUSTOM_HEADERS=a: b", signedOut, "`claude --setting-sources user auth status`"},
		{home.Codex, "CODEX_API_KEY=" + home.Key, signedIn, "CODEX_API_KEY"}, // the status command of codex ignores this variable
		{home.Codex, "OPENAI_API_KEY=" + home.Key, unclear, "OPENAI_API_KEY"},
		{home.Gemini, "GEMINI_API_KEY=" + home.Key, signedIn, "GEMINI_API_KEY"},
		{home.OpenCode, "GROQ_API_KEY=" + home.Key, unclear, "nothing that can be seen"}, // clichain passes only keys of configured providers
		{home.OpenCode, "OPENCODE_API_KEY=" + home.Key, signedIn, "OPENCODE_API_KEY; `opencode auth list`"},
	} {
		t.Run(test.cli+" "+test.env, func(t *testing.T) {
			longUnless(t, test.env != "GROQ_API_KEY="+home.Key)
			h := bare(t, test.cli)
			h.Env = append(h.Env, test.env)
			h.Apply(t)
			spec, ok := specs.ByName(test.cli)
			require.True(t, ok)
			d := doctor.Diagnose(t.Context(), []clichain.Backend{clichain.NewProvider(spec, nil)}, &doctor.Config{Probe: true, ProbeTimeout: minute}).Backends[0]
			require.Equal(t, test.want, d.Login, "%+v", d)
			require.Equal(t, test.evidence, d.Evidence)
			require.Contains(t, d.Version, spec.CheckedWith)
		})
	}
}

// doctor probes all CLIs concurrently, within the timeout.
func TestDoctorProbesInTime(t *testing.T) {
	netns.Require(t)
	program, h := command(t), bare(t, home.OpenCode)
	h.Env = append(h.Env, "ANTHROPIC_API_KEY="+home.Key, "GEMINI_API_KEY="+home.Key, "CODEX_API_KEY="+home.Key)
	start := time.Now()
	checkup(t, program, h, "--probe")
	took := time.Since(start)
	t.Logf("doctor --probe: %v", took)
	require.Less(t, took, 40*time.Second, "normally 4 s; the limit allows for a slow machine")
}

// doctor takes little longer than a start of the command and does not change the home.
func TestDoctorIsFastAndChangesNothing(t *testing.T) {
	netns.Require(t)
	require.NoError(t, netns.LoopbackOnly(), "the network is not isolated")
	program, h := command(t), bare(t, home.Claude)
	before := tree(t, h.Dir)
	best, bare := time.Hour, time.Hour
	for range 20 { // the machine may be busy, so the fastest run counts
		start := time.Now()
		require.NoError(t, exec.CommandContext(t.Context(), program, "--version").Run())
		bare = min(bare, time.Since(start))
		start = time.Now()
		checkup(t, program, h)
		best = min(best, time.Since(start))
	}
	t.Logf("doctor for five backends: %v, a bare start: %v", best, bare)
	require.Less(t, best, 10*bare)
	require.Equal(t, before, tree(t, h.Dir))
}

func tree(t *testing.T, dir string) (paths []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		paths = append(paths, path)
		return err
	}))
	return paths
}
