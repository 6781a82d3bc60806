package doctor_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/cooldown"
	"github.com/clichain/clichain/doctor"
	"github.com/clichain/clichain/internal/chaintest"
	"github.com/clichain/clichain/internal/testtime"
	"github.com/clichain/clichain/specs"
)

func codes(d doctor.Diagnosis) (list []string) {
	for _, p := range d.Problems {
		list = append(list, p.Code)
	}
	return list
}

func allProviders(cfg *clichain.Config) (list []clichain.Backend) {
	for _, spec := range specs.Every() {
		list = append(list, clichain.NewProvider(spec, cfg))
	}
	return list
}

func TestDiagnoseProblems(t *testing.T) {
	for _, test := range []struct {
		name    string
		cfg     clichain.Config
		arrange func(t *testing.T, home, bin string)
		code    string
		absent  bool // of other backends, or always
		blocks  bool
	}{
		{name: "nested", arrange: func(t *testing.T, _, _ string) { t.Setenv("CODEX_THREAD_ID", "1") }, code: "nested"},
		{name: "nested session refused", cfg: clichain.Config{RefuseNested: true}, arrange: func(t *testing.T, _, _ string) { t.Setenv("CODEX_THREAD_ID", "1") }, code: "nested_session", blocks: true},
		{name: "missing home", arrange: func(t *testing.T, home, _ string) { t.Setenv("HOME", home+"/none") }, code: "home_missing"},
		{name: "read-only home", arrange: func(t *testing.T, _, _ string) { t.Setenv("HOME", readOnlyFolder(t)) }, code: "home_readonly"},
		{name: "missing temporary directory", arrange: func(t *testing.T, home, _ string) { t.Setenv("TMPDIR", home+"/none") }, code: "no_temp"},
		{name: "world-writable directory in PATH", arrange: func(t *testing.T, _, bin string) {
			open := t.TempDir()
			require.NoError(t, os.Chmod(open, 0o777))
			t.Setenv("PATH", bin+":"+open)
		}, code: "unsafe_path"},
		{name: "relative directory in PATH", arrange: func(t *testing.T, _, bin string) { t.Setenv("PATH", bin+":.") }, code: "unsafe_path"},
		{name: "untrusted directory", arrange: func(*testing.T, string, string) {}, code: "untrusted_folder"},
		{name: "GitHub Actions", arrange: func(t *testing.T, _, _ string) { t.Setenv("GITHUB_ACTIONS", "true") }, code: "github_actions"},
		{name: "GitLab CI", arrange: func(t *testing.T, _, _ string) { t.Setenv("GITLAB_CI", "true") }, code: "gitlab_ci"},
		{name: "Nix shell", arrange: func(t *testing.T, _, _ string) {
			t.Setenv("NIX_BUILD_TOP", "/tmp/x")
			t.Setenv("IN_NIX_SHELL", "impure")
		}, code: "nix_build", absent: true},
		{name: "suppressed", arrange: func(t *testing.T, _, _ string) { t.Setenv("SKIP_CLI", "codex") }, code: "suppressed", blocks: true},
		{name: "unknown name in SKIP_CLI", arrange: func(t *testing.T, _, _ string) { t.Setenv("SKIP_CLI", "zebra") }, code: "skip_list"},
		{name: "misspelled name in SKIP_CLI", arrange: func(t *testing.T, _, _ string) { t.Setenv("SKIP_CLI", "codxe") }, code: "skip_list", blocks: true},
		{name: "another backend in SKIP_CLI", arrange: func(t *testing.T, _, _ string) { t.Setenv("SKIP_CLI", "claude") }, code: "skip_list", absent: true},
		{name: "expired credential", arrange: func(t *testing.T, home, _ string) {
			t.Setenv("CODEX_API_KEY", "")
			chaintest.Write(t, home, ".codex/auth.json", `{"tokens":{"access_token":"h.eyJleHAiOjF9.s"}}`)
		}, code: "credential_expired"},
	} {
		t.Run(test.name, func(t *testing.T) {
			home, bin := chaintest.FreshMachine(t, play())
			chaintest.LogIn(t)
			test.arrange(t, home, bin)
			d := doctor.Diagnose(t.Context(), []clichain.Backend{clichain.NewProvider(specs.Codex(), &test.cfg)}, nil).Backends[0]
			require.Equal(t, !test.absent, slices.Contains(codes(d), test.code), "%v", d.Problems)
			require.Equal(t, test.blocks, !d.Ready(), "%v", d.Problems)
			for _, p := range d.Problems {
				require.NotEmpty(t, p.Message)
				require.True(t, p.Hint != "" || len(p.Advice) > 0, p.Code)
			}
		})
	}
}

// readOnlyFolder returns a directory in which even root cannot create files.
func readOnlyFolder(t *testing.T) string {
	t.Helper()
	if _, err := os.Stat("/proc/self"); err == nil {
		return "/proc/self"
	}
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o500))
	return dir
}

func TestTrustedDirectory(t *testing.T) {
	home, _ := chaintest.FreshMachine(t, play())
	dir, err := os.Getwd()
	require.NoError(t, err)
	for name, file := range map[string][2]string{
		"codex":  {".codex/config.toml", "[projects.\"" + filepath.Dir(dir) + "\"]\ntrust_level = \"trusted\"\n"},
		"gemini": {".gemini/trustedFolders.json", `{"` + dir + `":"TRUST_FOLDER"}`},
	} {
		require.Contains(t, codes(diagnosis(t, name)), "untrusted_folder", name)
		chaintest.Write(t, home, file[0], file[1])
		require.NotContains(t, codes(diagnosis(t, name)), "untrusted_folder", name)
	}
}

// An OAuth credential does not prove that gemini is logged in. The backend stays ready, and the report names an
// alternative.
func TestUnprovenLogin(t *testing.T) {
	home, _ := chaintest.FreshMachine(t, play())
	chaintest.Write(t, home, ".gemini/settings.json", `{"security":{"auth":{"selectedType":"oauth-personal"}}}`)
	chaintest.Write(t, home, ".gemini/oauth_creds.json", `{"refresh_token":"r","expiry_date":4102444800000}`)
	d := diagnosis(t, "gemini")
	require.Equal(t, clispec.LoginUnknown, d.Login)
	require.Equal(t, filepath.Join(home, ".gemini", "oauth_creds.json"), d.Evidence)
	require.Equal(t, call.BillingSubscription, d.Billing)
	require.True(t, d.Ready())
	i := slices.Index(codes(d), "unproven_login")
	require.GreaterOrEqual(t, i, 0, "%v", d.Problems)
	require.Contains(t, d.Problems[i].Hint, "GEMINI_API_KEY")
}

func TestDiagnoseFlattensChains(t *testing.T) {
	chaintest.FreshMachine(t, play())
	chaintest.LogIn(t)
	store := cooldown.NewMemory()
	failing := fake{"own", call.ReasonBilling}
	inner := clichain.ChainOf([]clichain.Backend{failing}, &clichain.ChainConfig{Store: store})
	_, err := inner.Complete(t.Context(), call.Prompt("hi"))
	require.Error(t, err)
	broken := clichain.NewProvider(clispec.Spec{Name: "UPPER"}, nil)
	report := doctor.Diagnose(t.Context(), []clichain.Backend{clichain.ChainOf([]clichain.Backend{inner, fake{name: "good"}}, nil), broken}, nil)
	require.Len(t, report.Backends, 3)
	require.Equal(t, 1, report.Ready)
	own, good, upper := report.Backends[0], report.Backends[1], report.Backends[2]
	require.NotNil(t, own.CoolingUntil)
	require.Equal(t, []string{"cooling_down"}, codes(own))
	require.True(t, good.Ready())
	require.Nil(t, good.CoolingUntil)
	require.Equal(t, []string{"bad_option"}, codes(upper))

	alone := doctor.Diagnose(t.Context(), []clichain.Backend{failing}, &doctor.Config{Store: store})
	require.Equal(t, own.CoolingUntil, alone.Backends[0].CoolingUntil)
	require.ErrorIs(t, inner.Ready(t.Context()), call.ErrCoolingDown)
}

func TestDoctorProbes(t *testing.T) {
	const status = `{"loggedIn": true, "authMethod": "claude.ai"}`
	for name, test := range map[string]struct {
		steps   []clitest.Step
		want    clispec.LoginState
		billing call.Billing
		ready   bool
	}{
		"logged in":       {[]clitest.Step{stdout("9.9.9\n" + status)}, clispec.LoginAuthenticated, call.BillingSubscription, true},
		"logged out":      {[]clitest.Step{stdout("9.9.9\n" + `{"loggedIn": false}`)}, clispec.LoginUnknown, "", true}, // the exit code contradicts the output
		"does not answer": {[]clitest.Step{{Hang: true}}, clispec.LoginUnknown, "", true},
		"fails":           {[]clitest.Step{stdout("9.9.9"), clitest.Exit(4)}, clispec.LoginUnknown, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			clitest.NoLeaks(t)
			home, _ := chaintest.FreshMachine(t, play(test.steps...))
			chaintest.Write(t, home, ".claude/settings.json", `{"apiKeyHelper":"x"}`)
			cfg := doctor.Config{Probe: true, ProbeTimeout: time.Minute}
			if name == "does not answer" {
				cfg.ProbeTimeout = time.Second
			}
			d := doctor.Diagnose(t.Context(), []clichain.Backend{clichain.NewProvider(specs.Claude(), nil)}, &cfg).Backends[0]
			require.Equal(t, test.want, d.Login, "%+v", d)
			require.Equal(t, name == "does not answer", slices.Contains(codes(d), doctor.CodeSlow), "%v", d.Problems)
			require.Equal(t, test.billing, d.Billing)
			require.Equal(t, test.billing == call.BillingAPIKey, d.RequiresAPIKey)
			require.Equal(t, test.ready, d.Ready())
			require.Equal(t, test.ready && name != "does not answer", d.Version == "9.9.9")
		})
	}
}

// The cache keeps a version until the program changes.
func TestVersionIsCached(t *testing.T) {
	record := filepath.Join(t.TempDir(), "record")
	_, bin := chaintest.FreshMachine(t, play(clitest.Step{Record: record}, stdout("0.1.0\n")))
	cache := t.TempDir()
	look := func() doctor.Diagnosis {
		return doctor.Diagnose(t.Context(), []clichain.Backend{clichain.NewProvider(specs.Gemini(), &clichain.Config{Env: []string{"GEMINI_API_KEY=x"}})}, &doctor.Config{Probe: true, CacheDir: cache}).Backends[0]
	}
	d := look()
	require.Equal(t, "0.1.0", d.Version)
	require.Contains(t, codes(d), "old_version")
	require.True(t, d.Ready())
	require.NoError(t, os.Remove(record))
	require.Equal(t, "0.1.0", look().Version)
	require.NoFileExists(t, record, "the second run starts no program")
	_, err := clitest.Install(bin, "gemini", play(stdout("99.0.1\n")))
	require.NoError(t, err)
	d = look()
	require.Equal(t, "99.0.1", d.Version)
	require.NotContains(t, codes(d), "old_version")
	require.NoError(t, os.WriteFile(filepath.Join(cache, "versions.json"), []byte("{nonsense"), 0o600))
	require.Equal(t, "99.0.1", look().Version)
}

// Without a probe, the version comes from the package file beside the program.
func TestVersionFromPackageFile(t *testing.T) {
	checked := specs.Codex().CheckedWith
	for version, want := range map[string]struct{ code, drift string }{
		"99.0.0": {"drift", "99.0.0 is newer than " + checked + ", with which its spec was checked"},
		"0.1.0":  {code: "old_version"},
		checked:  {},
	} {
		_, bin := chaintest.FreshMachine(t, play())
		chaintest.LogIn(t)
		chaintest.Write(t, bin, "package.json", `{"name":"@openai/codex","version":"`+version+`"}`)
		d := diagnosis(t, "codex")
		require.Equal(t, version, d.Version)
		require.Equal(t, want.drift, d.Drift)
		require.True(t, d.Ready())
		for _, code := range []string{"drift", "old_version"} {
			require.Equal(t, code == want.code, slices.Contains(codes(d), code), "%s: %v", version, d.Problems)
		}
	}
}

// The report contains the cost of the CLI's model choice if the spec declares it. The backend stays ready.
func TestModelChoice(t *testing.T) {
	chaintest.FreshMachine(t, play())
	require.NotContains(t, codes(diagnosis(t, "codex")), "model_choice")
	d := diagnosis(t, "gemini")
	at := slices.Index(codes(d), "model_choice")
	require.GreaterOrEqual(t, at, 0, "%v", d.Problems)
	require.Equal(t, "a call without a model costs "+specs.Gemini().Models.ChoiceCosts, d.Problems[at].Message)
	require.Equal(t, []call.Advice{{Action: call.ActionSet, Field: "model"}}, d.Problems[at].Advice)
	require.False(t, d.Problems[at].Blocks())
}

func TestDoctorPings(t *testing.T) {
	chaintest.FreshMachine(t, play(readStdin, stdout(codexAnswer("OK"))))
	chaintest.LogIn(t)
	report := doctor.Diagnose(t.Context(), []clichain.Backend{
		clichain.NewProvider(specs.Codex(), nil), fake{"bad", call.ReasonUsageLimit}, fake{"out", call.ReasonUnauthenticated},
	}, &doctor.Config{Ping: true})
	require.Equal(t, 1, report.Ready)
	require.Equal(t, clispec.LoginAuthenticated, report.Backends[0].Login)
	require.Equal(t, "a call", report.Backends[0].Evidence)
	require.Equal(t, call.BillingAPIKey, report.Backends[0].Billing)
	require.True(t, report.Backends[0].RequiresAPIKey)
	require.Equal(t, []string{"usage_limit"}, codes(report.Backends[1]))
	require.Equal(t, clispec.LoginInstalled, report.Backends[2].Login)
}

// Diagnose is fast without probes, and its report survives a JSON round trip and matches the schema.
func TestReport(t *testing.T) {
	schema := jsonschema.NewCompiler().MustCompile("../docs/doctor.schema.json")
	chaintest.FreshMachine(t, play())
	t.Setenv("SKIP_CLI", "gemini")
	best := time.Hour
	var report doctor.Report
	for range 20 {
		backends := allProviders(nil)
		start := time.Now()
		report = doctor.Diagnose(t.Context(), backends, nil)
		best = min(best, time.Since(start))
	}
	t.Logf("all backends, nothing remembered: %v", best)
	testtime.Took(t, best, 2*time.Second) // Under load (four busy loops) and with the race detector it takes 350 ms.
	require.Equal(t, "SKIP_CLI", report.Backends[1].SuppressedBy)
	observed := time.Now().UTC().Truncate(time.Second)
	report.Backends[0].Window = &call.QuotaWindow{
		Name: "five_hour", Used: new(0.5), Length: 5 * time.Hour, ResetsAt: observed.Add(time.Hour), ObservedAt: observed,
	}

	data, err := json.Marshal(report)
	require.NoError(t, err)
	var again doctor.Report
	require.NoError(t, json.Unmarshal(data, &again))
	require.Equal(t, report, again)
	var doc any
	require.NoError(t, json.Unmarshal(data, &doc))
	require.NoError(t, schema.Validate(doc))

	object := doc.(map[string]any)
	object["backends"].([]any)[0].(map[string]any)["login"] = "perhaps"
	require.Error(t, schema.Validate(doc))
}
