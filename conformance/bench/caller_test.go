package bench_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/conformance/home"
)

// callerVariable is an environment variable. It makes this test binary a program that does one job.
const callerVariable = "BENCH_CALLER"

// caller is the value of callerVariable: the contender and its job.
type caller struct {
	Contender string
	Target    target
	Job       job
}

// playCaller does the job and exits if callerVariable is set.
func playCaller() {
	text := os.Getenv(callerVariable)
	if text == "" {
		return
	}
	var c caller
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		panic(err)
	}
	i := slices.IndexFunc(contenders, func(one contender) bool { return one.name == c.Contender })
	o := contenders[i].inside(c.Target, c.Job)
	o.Peak = peak("self")
	if err := json.NewEncoder(os.Stdout).Encode(o); err != nil {
		panic(err)
	}
	os.Exit(0)
}

func inNewProcess(t *testing.T, c caller) (o outcome) {
	t.Helper()
	text, err := json.Marshal(c)
	require.NoError(t, err)
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(withoutCertificates(os.Environ()), callerVariable+"="+string(text))
	out, err := cmd.Output()
	require.NoError(t, err, "%s", out)
	require.NoError(t, json.Unmarshal(out, &o))
	return o
}

// withoutCertificates removes the environment variables that name certificates. clichain passes them to the CLI. The
// other contenders start the CLI in the environment of its target, which has none. Node.js reads NODE_EXTRA_CA_CERTS at
// each start, which takes about 40 ms.
func withoutCertificates(environ []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		return strings.Contains(name, "_CERT") || strings.HasSuffix(name, "_CA_BUNDLE")
	})
}

func TestNoContenderPassesCertificates(t *testing.T) {
	for _, name := range []string{"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"} {
		t.Setenv(name, "/certificates")
	}
	s := fakeTarget(t, home.Claude, false)
	text, err := os.ReadFile(s.Binary)
	require.NoError(t, err)
	text = []byte(strings.Replace(string(text), "#!/bin/sh\n", "#!/bin/sh\nmkdir -p ~/.claude && env >~/.claude/env\n", 1))
	require.NoError(t, os.WriteFile(s.Binary, text, 0o700))
	for _, name := range []string{clichainName, execName} {
		o := inNewProcess(t, caller{name, s, job{Prompts: prompts(1)}})
		require.Len(t, o.Calls, 1)
		require.Empty(t, o.Calls[0].Error)
		seen, err := os.ReadFile(filepath.Join(s.Work, ".claude", "env")) // its state, which it may write
		require.NoError(t, err)
		require.Contains(t, string(seen), "HOME="+s.Work, name)
		require.NotContains(t, string(seen), "/certificates", name)
	}
}
