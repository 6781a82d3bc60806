package container_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/chaintest"
)

// Variables that lead to sockets reach a confined CLI only if the caller names them.
func TestConfinementWithholdsSockets(t *testing.T) {
	variables := []string{"SSH_AUTH_SOCK", "DOCKER_HOST", "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR"}
	for name, test := range map[string]struct {
		config  clichain.Config
		request map[string]string
		want    []string
	}{
		"unconfined":  {config: clichain.Config{Confine: call.ConfineOff, InheritEnv: true}, want: variables},
		"confined":    {config: clichain.Config{}},
		"inherited":   {config: clichain.Config{InheritEnv: true}},
		"pattern":     {config: clichain.Config{PassEnv: []string{"SSH_*", "DOCKER_*"}}},
		"names":       {config: clichain.Config{PassEnv: variables}, want: variables},
		"Config.Env":  {config: clichain.Config{Env: []string{"SSH_AUTH_SOCK=/own"}}, want: variables[:1]},
		"Request.Env": {config: clichain.Config{RequestEnv: []string{"DOCKER_HOST"}}, request: map[string]string{"DOCKER_HOST": "/own"}, want: variables[1:2]},
		"not named":   {config: clichain.Config{Confine: call.ConfineOff}, want: variables[2:]},
	} {
		t.Run(name, func(t *testing.T) {
			_, spec := confinedHome(t)
			for _, variable := range variables {
				t.Setenv(variable, "/socket")
			}
			if test.config.Confine == "" {
				test.config.Confine = call.ConfineAuto
			}
			req := clichain.Prompt("env")
			req.Env = test.request
			resp, err := clichain.NewProvider(spec, &test.config).Complete(t.Context(), req)
			require.NoError(t, err)
			var got []string
			for _, variable := range variables {
				if strings.Contains(resp.Text, variable+"=") {
					got = append(got, variable)
				}
			}
			require.Equal(t, test.want, got)
		})
	}
}

// A request, which may come from a queue, cannot move the files that a confined CLI may change. The configuration can.
func TestConfinementIgnoresEnvOfRequest(t *testing.T) {
	home, spec := confinedHome(t)
	spec.Confine.State = []clispec.StatePath{{Path: "${LUMEN_HOME:-~/.lumen}"}}
	for name, test := range map[string]struct {
		dir    string
		config clichain.Config
		cannot bool
	}{
		"request":                   {dir: "work", config: clichain.Config{RequestEnv: []string{"LUMEN_HOME"}}, cannot: true},
		"request for the own state": {dir: ".lumen", config: clichain.Config{RequestEnv: []string{"LUMEN_HOME"}}},
		"configuration":             {dir: "work", config: clichain.Config{Env: []string{"LUMEN_HOME=" + filepath.Join(home, "work")}}},
		"allowed by WritePaths": {
			dir: "work", config: clichain.Config{RequestEnv: []string{"LUMEN_HOME"}, WritePaths: []string{filepath.Join(home, "work")}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			test.config.Confine = call.ConfineAuto
			req := clichain.Prompt("echo x >$LUMEN_HOME/new")
			if len(test.config.RequestEnv) > 0 {
				req.Env = map[string]string{"LUMEN_HOME": filepath.Join(home, test.dir)}
			}
			_, err := clichain.NewProvider(spec, &test.config).Complete(t.Context(), req)
			if test.cannot {
				chaintest.RequireReason(t, clichain.ReasonExit, err)
				return
			}
			require.NoError(t, err)
		})
	}
}

// A login in the keyring of the desktop needs the session bus. The error of a CLI that is not logged in names its variable.
func TestConfinementExplainsKeyring(t *testing.T) {
	_, spec := confinedHome(t)
	advice := call.Advice{Action: call.ActionAdd, Field: "config.pass_env", Value: "DBUS_SESSION_BUS_ADDRESS"}
	fail := func(cfg clichain.Config) *clichain.BackendError {
		_, err := clichain.NewProvider(spec, &cfg).Complete(t.Context(), clichain.Prompt("echo not logged in >&2; exit 1"))
		return chaintest.RequireReason(t, clichain.ReasonUnauthenticated, err)
	}
	t.Setenv(advice.Value, "unix:path=/run/bus")
	require.Contains(t, fail(clichain.Config{Confine: call.ConfineAuto}).Advice, advice)
	require.NotContains(t, fail(clichain.Config{Confine: call.ConfineAuto, PassEnv: []string{advice.Value}}).Advice, advice)
	require.NotContains(t, fail(clichain.Config{Confine: call.ConfineOff}).Advice, advice)
	require.NoError(t, os.Unsetenv(advice.Value))
	require.NotContains(t, fail(clichain.Config{Confine: call.ConfineAuto}).Advice, advice)
}
