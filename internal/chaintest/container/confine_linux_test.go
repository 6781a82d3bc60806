package container_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/chaintest"
	"github.com/clichain/clichain/internal/landlock"
	"github.com/clichain/clichain/internal/seccomptest"
)

// confinedHome is scriptHome, or skips the test on a system that cannot confine programs.
func confinedHome(t testing.TB) (home string, spec clichain.CliSpec) {
	t.Helper()
	if _, err := landlock.Usable(); err != nil {
		t.Skip(err)
	}
	return scriptHome(t)
}

// scriptHome makes a home directory with a secret and the state of a CLI. The CLI runs its prompt as a shell script.
// Fakes are not confined, so it is a script.
func scriptHome(t testing.TB) (home string, spec clichain.CliSpec) {
	t.Helper()
	home = t.TempDir()
	t.Setenv("HOME", home)
	write := func(name, text string, mode os.FileMode) {
		path := filepath.Join(home, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), mode))
	}
	write(".ssh/id_rsa", "the secret", 0o600)
	write("work/file.txt", "text of the directory", 0o644)
	write("bin/lumen", "#!/bin/sh\nsh -c \"$2\" && echo done\n", 0o755)
	return home, clichain.CliSpec{
		Name: "lumen", Binary: filepath.Join(home, "bin/lumen"),
		Args: []clispec.ArgRow{
			{Args: []string{"-p", "{prompt}"}},
			{Args: []string{"--work"}, When: clispec.When{Access: []call.Access{call.AccessRead, call.AccessWrite, call.AccessFull}}},
		},
		Confine: clispec.ConfineRules{State: []clispec.StatePath{{Path: "~/.lumen", Watch: []string{"hooks"}}}},
	}
}

func confined() *clichain.Config { return &clichain.Config{Confine: call.ConfineAuto} }

func TestConfinement(t *testing.T) {
	const work = "$HOME/work"
	const none, read, write = clichain.AccessNone, clichain.AccessRead, clichain.AccessWrite
	for _, test := range []struct {
		name, script string
		allowed      []clichain.Access
	}{
		{"read a secret", "cat $HOME/.ssh/id_rsa", nil},
		{"write to the home directory", "echo x >$HOME/new", nil},
		{"replace a program of the user", "echo x >$HOME/bin/lumen", nil},
		{"write to another directory", "echo x >" + t.TempDir() + "/new", nil},
		{"read the working directory", "cat " + work + "/file.txt", []clichain.Access{read, write}},
		{"write to the working directory", "echo x >" + work + "/new", []clichain.Access{write}},
		{"write through a link", "ln -sf $HOME/.ssh " + work + "/link; echo x >" + work + "/link/new", nil},
		{"write state", "echo x >$HOME/.lumen/state", []clichain.Access{none, read, write}},
		{"use the temporary directory", "mktemp", []clichain.Access{none, read, write}},
		{"read a file of the system", "cat /etc/passwd", []clichain.Access{none, read, write}},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, access := range []clichain.Access{none, read, write} {
				home, spec := confinedHome(t) // a script that is allowed changes it
				req := clichain.Prompt(test.script)
				if req.Access = access; access != none {
					req.Dir = filepath.Join(home, "work")
				}
				for _, confine := range []call.Confinement{"", call.ConfineOff} {
					resp, err := clichain.NewProvider(spec, &clichain.Config{Confine: confine}).Complete(t.Context(), req)
					if confine == "" && !slices.Contains(test.allowed, access) {
						chaintest.RequireReason(t, clichain.ReasonExit, err)
						continue
					}
					require.NoError(t, err, "%q with access %s", confine, access)
					require.Equal(t, confine == "", resp.Confined[:3] == "lan", resp.Confined)
				}
			}
		})
	}
}

// A call that must be confined, and cannot be, is refused before the program starts.
func TestConfinementRequired(t *testing.T) {
	home, spec := confinedHome(t)
	marker := filepath.Join(home, "started")
	unknown := spec
	unknown.Confine = clispec.ConfineRules{}
	for name, test := range map[string]struct {
		spec clichain.CliSpec
		req  clichain.Request
	}{
		"spec without state": {unknown, clichain.Prompt("touch " + marker)},
		"access full":        {spec, clichain.Request{Messages: clichain.Prompt("touch " + marker).Messages, Access: clichain.AccessFull, Dir: home}},
	} {
		t.Run(name, func(t *testing.T) {
			p := clichain.NewProvider(test.spec, &clichain.Config{Confine: call.ConfineRequired})
			_, err := p.Complete(t.Context(), test.req)
			be := chaintest.RequireReason(t, clichain.ReasonUnconfined, err)
			require.Equal(t, call.StageSkipped, be.Stage)
			require.NoFileExists(t, marker)
		})
	}
}

// The sandbox of a CLI does not confine the programs that a trusted directory makes the CLI start.
func TestConfinementOfTrustedDirectory(t *testing.T) {
	home, spec := confinedHome(t)
	spec.Confine.Own = []call.Access{clichain.AccessWrite}
	const unconfined = "no: the sandbox of the CLI does not confine the programs of a trusted directory"
	for name, test := range map[string]struct {
		access clichain.Access
		trust  bool
		want   string
	}{
		"untrusted, sandbox of the CLI": {clichain.AccessWrite, false, "^own$"},
		"trusted, sandbox of the CLI":   {clichain.AccessWrite, true, "^" + unconfined + "$"},
		"trusted, kernel":               {clichain.AccessRead, true, "^landlock "},
		"trusted, without access":       {clichain.AccessNone, true, "^landlock "},
	} {
		t.Run(name, func(t *testing.T) {
			req := clichain.Prompt("echo text")
			if req.Access = test.access; test.access != clichain.AccessNone {
				req.Dir = filepath.Join(home, "work")
			}
			p := clichain.NewProvider(spec, &clichain.Config{TrustDir: test.trust})
			require.Regexp(t, test.want, p.Status("").Confined[test.access])
			resp, err := p.Complete(t.Context(), req)
			require.NoError(t, err)
			require.Regexp(t, test.want, resp.Confined)

			p = clichain.NewProvider(spec, &clichain.Config{TrustDir: test.trust, Confine: call.ConfineRequired})
			resp, err = p.Complete(t.Context(), req)
			if strings.HasPrefix(test.want, "^no") {
				chaintest.RequireReason(t, clichain.ReasonUnconfined, err)
				return
			}
			require.NoError(t, err)
			require.Regexp(t, test.want, resp.Confined)
		})
	}
}

// The error of a denied access names the path and the fields that grant it.
func TestConfinementExplainsDenials(t *testing.T) {
	home, spec := confinedHome(t)
	secret := filepath.Join(home, ".ssh/id_rsa")
	_, err := clichain.NewProvider(spec, confined()).Complete(t.Context(), clichain.Prompt("cat "+secret))
	be := chaintest.RequireReason(t, clichain.ReasonExit, err)
	require.Contains(t, be.Message, "the confinement denies "+secret)
	require.Contains(t, be.Advice, call.Advice{Action: call.ActionAdd, Field: "config.read_paths", Value: secret})
	granted := clichain.NewProvider(spec, &clichain.Config{Confine: call.ConfineAuto, ReadPaths: []string{secret}})
	resp, err := granted.Complete(t.Context(), clichain.Prompt("cat "+secret))
	require.NoError(t, err)
	require.Contains(t, resp.Text, "the secret")
	_, err = clichain.NewProvider(spec, &clichain.Config{Confine: call.ConfineAuto, ReadPaths: []string{"none"}}).Complete(t.Context(), clichain.Prompt("true"))
	require.Equal(t, "config.read_paths", chaintest.RequireReason(t, clichain.ReasonBadOption, err).Option)
	caches := &clichain.Config{Confine: call.ConfineAuto, CachePaths: []string{"none"}}
	_, err = clichain.NewProvider(spec, caches).Complete(t.Context(), clichain.Prompt("true"))
	require.Equal(t, "config.cache_paths", chaintest.RequireReason(t, clichain.ReasonBadOption, err).Option)
}

// The response reports files that the run changed and that act outside the confinement later.
func TestConfinementReportsPersistence(t *testing.T) {
	home, spec := confinedHome(t)
	hook := filepath.Join(home, ".lumen/hooks/start")
	resp, err := clichain.NewProvider(spec, confined()).Complete(t.Context(), clichain.Prompt("mkdir -p $HOME/.lumen/hooks; echo x >"+hook))
	require.NoError(t, err)
	require.Len(t, resp.Warnings, 1)
	require.Contains(t, resp.Warnings[0], hook)
	_, err = clichain.NewProvider(spec, confined()).Complete(t.Context(), clichain.Prompt("echo y >"+hook+"; exit 3"))
	be := chaintest.RequireReason(t, clichain.ReasonExit, err)
	require.Len(t, be.Warnings, 1)
	require.Contains(t, be.Warnings[0], "changed "+hook)
}

// A variable moves the state of the CLI out of the home directory. It is created there.
func TestConfinementCreatesMovedState(t *testing.T) {
	_, spec := confinedHome(t)
	spec.PassEnv = []string{"LUMEN_HOME"}
	spec.Confine.State = []clispec.StatePath{{Path: "${LUMEN_HOME:-~/.lumen}"}}
	moved := filepath.Join(t.TempDir(), "deep/state")
	t.Setenv("LUMEN_HOME", moved)
	_, err := clichain.NewProvider(spec, confined()).Complete(t.Context(), clichain.Prompt("echo x >$LUMEN_HOME/new"))
	require.NoError(t, err)
	require.FileExists(t, filepath.Join(moved, "new"))
}

// A shim and its program are confined together.
func TestConfinementWithShim(t *testing.T) {
	_, spec := confinedHome(t)
	p := clichain.NewProvider(spec, &clichain.Config{Confine: call.ConfineAuto, Shim: true})
	_, err := p.Complete(t.Context(), clichain.Prompt("cat $HOME/.ssh/id_rsa"))
	chaintest.RequireReason(t, clichain.ReasonExit, err)
	resp, err := p.Complete(t.Context(), clichain.Prompt("echo x >$HOME/.lumen/state"))
	require.NoError(t, err)
	require.Contains(t, resp.Confined, "landlock")
}

// Provider.Command shows the rules, and starts and makes nothing.
func TestConfinementIsShown(t *testing.T) {
	home, spec := confinedHome(t)
	c, err := clichain.NewProvider(spec, confined()).Command(t.Context(), clichain.Prompt("hi"))
	require.NoError(t, err)
	require.Contains(t, c.Confined, "landlock")
	require.NotEmpty(t, c.Grants)
	require.NoDirExists(t, filepath.Join(home, ".lumen"))
}

// The credentials of a cloud can be read only by a CLI that is configured to use the cloud.
func TestConfinementGrantsCredentialsOfCloud(t *testing.T) {
	home, spec := confinedHome(t)
	cloud := filepath.Join(home, ".aws/credentials")
	require.NoError(t, os.MkdirAll(filepath.Join(home, ".aws/cache"), 0o700))
	require.NoError(t, os.WriteFile(cloud, []byte("key"), 0o600))
	spec.PassEnvIf = []clispec.PassRule{{Pass: []string{"AWS_*"}, Env: []string{"USE_CLOUD"}, Read: []string{"~/.aws"}, Write: []string{"~/.aws/cache"}}}
	_, err := clichain.NewProvider(spec, confined()).Complete(t.Context(), clichain.Prompt("cat "+cloud))
	chaintest.RequireReason(t, clichain.ReasonExit, err)
	p := clichain.NewProvider(spec, &clichain.Config{Confine: call.ConfineAuto, Env: []string{"USE_CLOUD=1"}})
	_, err = p.Complete(t.Context(), clichain.Prompt("cat "+cloud))
	require.NoError(t, err)
	_, err = p.Complete(t.Context(), clichain.Prompt("echo x >"+cloud))
	chaintest.RequireReason(t, clichain.ReasonExit, err)
	_, err = p.Complete(t.Context(), clichain.Prompt("echo x >"+filepath.Join(home, ".aws/cache/token")))
	require.NoError(t, err)
}

// A CLI can start the MCP servers of its request, and only those.
func TestConfinementGrantsMCPServers(t *testing.T) {
	_, spec := confinedHome(t)
	spec.Args = append(spec.Args, clispec.ArgRow{
		Args: []string{"--mcp", "{mcp_config}"}, When: clispec.When{Set: []string{"mcp_config"}},
	})
	server := filepath.Join(t.TempDir(), "server")
	require.NoError(t, os.WriteFile(server, []byte("#!/bin/sh\necho served\n"), 0o700))
	p := clichain.NewProvider(spec, nil)
	req := clichain.Prompt(server)
	_, err := p.Complete(t.Context(), req)
	chaintest.RequireReason(t, clichain.ReasonExit, err)
	req.Options.MCPConfig = []json.RawMessage{fmt.Appendf(nil, `{"mcpServers": {"one": {"command": %q}}}`, server)}
	resp, err := p.Complete(t.Context(), req)
	require.NoError(t, err)
	require.Contains(t, resp.Text, "served")
	require.Contains(t, resp.Confined, "landlock")
}

// Only a system that cannot confine programs lets a call run unconfined. A temporary error refuses it.
func TestConfinementWithoutLandlock(t *testing.T) {
	const denied = "CLICHAIN_TEST_DENIED"
	errnos := map[string]unix.Errno{"EPERM": unix.EPERM, "ENOSYS": unix.ENOSYS, "EMFILE": unix.EMFILE, "ENOMEM": unix.ENOMEM}
	calls := map[string]uint32{"ruleset": unix.SYS_LANDLOCK_CREATE_RULESET, "restriction": unix.SYS_LANDLOCK_RESTRICT_SELF}
	name := os.Getenv(denied)
	if name == "" {
		if _, err := landlock.Usable(); err != nil {
			t.Skip(err)
		}
		for errno := range errnos {
			for what := range calls {
				inChild(t, nil, denied+"="+what+" "+errno)
			}
		}
		return
	}
	home, spec := scriptHome(t)
	what, errno, _ := strings.Cut(name, " ")
	require.NoError(t, seccomptest.Deny(calls[what], errnos[errno]))
	// Without rulesets, the kernel does not report its version, whatever the error is.
	permanent := what == "ruleset" || errno == "EPERM" || errno == "ENOSYS"
	marker := filepath.Join(home, "started")
	auto, required := clichain.NewProvider(spec, nil), clichain.NewProvider(spec, &clichain.Config{Confine: call.ConfineRequired})
	resp, err := auto.Complete(t.Context(), clichain.Prompt("touch "+marker))
	if permanent {
		require.NoError(t, err)
		require.Regexp(t, "^no: .*Landlock", resp.Confined)
		_, err = auto.Complete(t.Context(), clichain.Prompt("exit 3"))
		require.Equal(t, resp.Confined, chaintest.RequireReason(t, clichain.ReasonExit, err).Confined)
		require.NoError(t, os.Remove(marker))
		_, err = required.Complete(t.Context(), clichain.Prompt("touch "+marker))
	}
	be := chaintest.RequireReason(t, clichain.ReasonUnconfined, err)
	require.Equal(t, call.StageSkipped, be.Stage)
	require.Len(t, be.Advice, 1)
	require.NoFileExists(t, marker)
	require.Equal(t, !permanent, slices.Contains(be.Advice, call.Advice{Action: call.ActionSet, Field: "config.confine", Value: "off"}))
}
