package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/examples/internal/machine"
	"github.com/clichain/clichain/specs"
)

// TestMain lets the test binary play the fake CLIs.
func TestMain(m *testing.M) {
	clitest.Main()
	os.Exit(m.Run())
}

const diff = "--- a/go.go\n+++ b/go.go\n@@ -1 +1 @@\n-one\n+two\n"

func TestReviews(t *testing.T) {
	for name, test := range map[string]struct {
		cli    clitest.Scenario
		diff   string
		status int
		stdout string
		stderr string
	}{
		"nothing found": {
			clitest.Answer(specs.Claude(), `{"findings": []}`), diff, 0, "", "ci: findings: 0, by claude",
		},
		"could be better": {
			clitest.Answer(specs.Claude(), `{"findings": [{"file": "go.go", "line": 1, "wrong": false, "text": "Why two?"}]}`), diff,
			0, "::warning file=go.go,line=1::Why two?\n", "ci: findings: 1, by claude",
		},
		"wrong": {
			clitest.Answer(specs.Claude(), `{"findings": [{"file": "go.go", "line": 1, "wrong": true, "text": "100 %\n::stop-commands::x"},
				{"file": "a,b:c\n", "line": 2, "wrong": false, "text": "Why?"}]}`), diff, 1,
			"::error file=go.go,line=1::100 %25%0A::stop-commands::x\n::warning file=a%2Cb%3Ac%0A,line=2::Why?\n",
			"ci: findings: 2, by claude",
		},
		"no review": {clitest.LoggedOut(specs.Claude()), diff, 3, "", "unauthenticated"},
		"no JSON":   {clitest.Answer(specs.Claude(), "It looks good."), diff, 3, "", "bad_output"},
		"no diff":   {clitest.Garbage(), " \n", 2, "", "no diff on stdin"},
		"long diff": {clitest.Garbage(), strings.Repeat("x", maxDiff+1), 2, "", "longer than 256 KiB"},
	} {
		t.Run(name, func(t *testing.T) {
			defer machine.New(map[string]clitest.Scenario{"claude": test.cli})()
			var stdout, stderr bytes.Buffer
			status := run(t.Context(), strings.NewReader(test.diff), &stdout, &stderr)
			require.Equal(t, test.status, status, stderr.String())
			require.Equal(t, test.stdout, stdout.String())
			require.Contains(t, stderr.String(), test.stderr)
		})
	}
}

// The diff is on stdin, where other users cannot see it, and the agent has no tools.
func TestDiffIsOnStdin(t *testing.T) {
	record := t.TempDir()
	scenario := clitest.Scenario{Steps: []clitest.Step{{Record: record}}}
	defer machine.New(map[string]clitest.Scenario{"claude": scenario})()
	run(t.Context(), strings.NewReader(diff), &bytes.Buffer{}, &bytes.Buffer{})
	files, err := os.ReadDir(record)
	require.NoError(t, err)
	require.NotEmpty(t, files)
	r, err := clitest.ReadRecord(record + "/" + files[0].Name())
	require.NoError(t, err)
	require.Contains(t, string(r.Stdin), task+diff)
	require.NotContains(t, strings.Join(r.Args, " "), diff)
}
