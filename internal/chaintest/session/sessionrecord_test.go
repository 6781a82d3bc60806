package session_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/internal/chaintest"
	"github.com/clichain/clichain/internal/session"
	"github.com/clichain/clichain/internal/sessionfile"
	"github.com/clichain/clichain/specs"
)

// growing is codex continuing one thread, with cumulative counts.
func growing() clitest.Scenario {
	var s clitest.Scenario
	for _, input := range []int{12, 30, 50} {
		used := fmt.Sprintf(`"turn.completed","usage":{"input_tokens":%d,"output_tokens":%d}`, input, input/2)
		answer := chaintest.Stdout(strings.Replace(chaintest.ThreadAnswer(chaintest.AnID, "yes"), `"turn.completed"`, used, 1))
		s.Cases = append(s.Cases, clitest.Case{Once: true, Steps: []clitest.Step{chaintest.ReadStdin, answer}})
	}
	return s
}

// growth is the usage of each of those calls.
var growth = []clichain.Usage{{InputTokens: 12, OutputTokens: 6}, {InputTokens: 18, OutputTokens: 9}, {InputTokens: 20, OutputTokens: 10}}

// Cumulative counts of a CLI are reduced to those of the call.
func TestUsageIsThatOfTheCall(t *testing.T) {
	clitest.NoLeaks(t)
	chaintest.FreshState(t)
	p := chaintest.Provider(t, specs.Codex(), clichain.Config{}, growing())
	req := clichain.Prompt("hi")
	for _, want := range growth {
		resp, err := p.Complete(t.Context(), req)
		require.NoError(t, err)
		require.Equal(t, want, resp.Usage)
		req.Session = resp.Session
	}
}

// turnRole makes a process of this program make one call: it names the program of codex. turnSession is the session
// to continue.
const turnRole, turnSession = "CLICHAIN_TEST_TURN", "CLICHAIN_TEST_TURN_SESSION"

// playTurn runs such a process, without tests.
func playTurn() {
	path := os.Getenv(turnRole)
	if path == "" {
		return
	}
	req := clichain.Prompt("hi")
	req.Session = os.Getenv(turnSession)
	resp, err := clichain.NewProvider(specs.Codex(), &clichain.Config{Binary: path}).Complete(context.Background(), req)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(resp.Session, resp.Usage.InputTokens)
	os.Exit(0)
}

// The record of a session, its directory and its usage, outlives the process that made it.
func TestProcessesShareSessions(t *testing.T) {
	clitest.NoLeaks(t)
	chaintest.FreshState(t)
	path, err := clitest.Install(t.TempDir(), "codex", growing())
	require.NoError(t, err)
	handle := ""
	for _, want := range growth {
		cmd := exec.Command(os.Args[0], "-test.run=^$")
		cmd.Env = append(os.Environ(), turnRole+"="+path, turnSession+"="+handle, "GORACE=atexit_sleep_ms=0")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		handle = chaintest.HandleOf("codex", chaintest.AnID)
		require.Equal(t, fmt.Sprintln(handle, want.InputTokens), string(out))
	}
}

// forged returns handles that name a directory in every conceivable way.
func forged(name, dir string) map[string]string {
	raw := base64.RawURLEncoding.EncodeToString
	own, first := chaintest.HandleOf(name, chaintest.AnID), name+":"+chaintest.AnID
	return map[string]string{
		"first form":                 first + "@" + dir,
		"first form, with amounts":   first + ";input_tokens=1@" + dir,
		"first form, in base64":      raw([]byte(first + "@" + dir)),
		"first form as the id":       chaintest.HandleOf(name, first+"@"+dir),
		"behind":                     own + "@" + dir,
		"behind a semicolon":         own + ";" + dir,
		"behind a dot":               own + "." + dir,
		"behind a dot, in base64":    own + "." + raw([]byte(dir)),
		"behind, escaped":            own + "@" + url.PathEscape(dir),
		"in the id":                  chaintest.HandleOf(name, chaintest.AnID+"@"+dir),
		"in the id, with amounts":    chaintest.HandleOf(name, chaintest.AnID+";@"+dir),
		"in the id, behind a NUL":    chaintest.HandleOf(name, chaintest.AnID+"\x00"+dir),
		"in the id, on a line":       chaintest.HandleOf(name, chaintest.AnID+"\n"+dir),
		"in the id, as JSON":         chaintest.HandleOf(name, `{"id":"`+chaintest.AnID+`","dir":"`+dir+`"}`),
		"as the id":                  chaintest.HandleOf(name, dir),
		"as a record":                chaintest.HandleOf(name, `{"session":"`+own+`","dir":"`+raw([]byte(dir))+`"}`),
		"as the backend":             dir + own[strings.LastIndex(own, "."):],
		"in the backend":             name + "@" + dir + own[strings.LastIndex(own, "."):],
		"in the backend, in base64":  name + "." + raw([]byte(dir)) + own[strings.LastIndex(own, "."):],
		"a record's place":           "../../" + own,
		"nothing of it, but the id":  own,
		"of another machine's store": chaintest.HandleOf(name, "0199abcd-0000-7000-8000-00000000ffff"),
	}
}

// A handle does not choose the agent's directory: only this user's own record can.
func TestForgedHandles(t *testing.T) {
	clitest.NoLeaks(t)
	chaintest.FreshState(t)
	any := specs.Codex() // accepts any text as an ID
	any.Sessions = clispec.SessionRules{}
	for name, spec := range map[string]clichain.CliSpec{"codex": specs.Codex(), "any id": any} {
		for _, fresh := range []bool{false, true} {
			for form, handle := range forged("codex", t.TempDir()) {
				t.Run(fmt.Sprintf("%s/fresh=%t/%s", name, fresh, form), func(t *testing.T) {
					t.Parallel()
					record := filepath.Join(t.TempDir(), "record")
					answer := chaintest.Play(clitest.Step{Record: record}, chaintest.Stdout(chaintest.ThreadAnswer(chaintest.AnID, "yes")))
					req := clichain.Prompt("hi")
					req.Session, req.Access = handle, clichain.AccessRead
					_, err := chaintest.Provider(t, spec, clichain.Config{FreshSessionOnReject: fresh}, answer).Complete(t.Context(), req)
					here, wdErr := os.Getwd()
					require.NoError(t, wdErr)
					ran, readErr := clitest.ReadRecord(record)
					if readErr == nil {
						require.Equal(t, here, ran.Dir)
						return
					}
					require.Error(t, err)
				})
			}
		}
	}
}

// A record that other users could have written does not count.
func TestSharedRecordIsNotObeyed(t *testing.T) {
	clitest.NoLeaks(t)
	state, dir := chaintest.FreshState(t), t.TempDir()
	record := filepath.Join(t.TempDir(), "record")
	p := chaintest.Provider(t, specs.Codex(), clichain.Config{}, chaintest.Play(clitest.Step{Record: record}, chaintest.Stdout(chaintest.ThreadAnswer(chaintest.AnID, "yes"))))
	req := clichain.Prompt("hi")
	req.Session, req.Access = chaintest.HandleOf("codex", chaintest.AnID), clichain.AccessRead
	for mode, obeyed := range map[os.FileMode]bool{0o600: true, 0o666: false} {
		require.NoError(t, sessionfile.Save(req.Session, session.Record{Dir: dir}))
		for _, path := range filesBelow(t, state) {
			require.NoError(t, os.Chmod(path, mode))
		}
		_, err := p.Complete(t.Context(), req)
		require.NoError(t, err)
		ran, err := clitest.ReadRecord(record)
		require.NoError(t, err)
		require.Equal(t, obeyed, sameFile(t, dir, ran.Dir), "%v: %s", mode, ran.Dir)
	}
}

func TestHandleTellsNothing(t *testing.T) {
	clitest.NoLeaks(t)
	chaintest.FreshState(t)
	p := chaintest.Provider(t, specs.Codex(), clichain.Config{}, growing())
	req := clichain.Prompt("hi")
	req.Access, req.Dir = clichain.AccessRead, t.TempDir()
	resp, err := p.Complete(t.Context(), req)
	require.NoError(t, err)
	require.Equal(t, chaintest.HandleOf("codex", chaintest.AnID), resp.Session, "the backend and the id, and nothing else")
	require.Regexp(t, `^[A-Za-z0-9._-]+$`, resp.Session)
}

func TestNoSessionToGoOnFrom(t *testing.T) {
	clitest.NoLeaks(t)
	state := chaintest.FreshState(t)
	p := chaintest.Provider(t, specs.Codex(), clichain.Config{}, chaintest.Play(chaintest.ReadStdin, chaintest.Stdout(chaintest.ThreadAnswer(chaintest.AnID, "yes"))))
	req := clichain.Prompt("hi")
	req.Options.NoSessionPersistence = true
	resp, err := p.Complete(t.Context(), req)
	require.NoError(t, err)
	require.Empty(t, resp.Session)
	sessions := filepath.Join(state, "clichain", "sessions")
	require.NoDirExists(t, sessions)

	resp, err = p.Complete(t.Context(), clichain.Prompt("hi"))
	require.NoError(t, err)
	require.NotEmpty(t, resp.Session)
	require.Len(t, filesBelow(t, sessions), 1, "else the test shows nothing")
}

// If the record cannot be written, the answer has a warning, and its session can be continued in the request's own
// directory.
func TestNoPlaceForRecords(t *testing.T) {
	clitest.NoLeaks(t)
	t.Setenv("XDG_STATE_HOME", chaintest.Write(t, t.TempDir(), "file", ""))
	p := chaintest.Provider(t, specs.Codex(), clichain.Config{}, growing())
	req := clichain.Prompt("hi")
	req.Access = clichain.AccessRead // without access it needs a directory, too
	for i, want := range []clichain.Usage{growth[0], {}} {
		resp, err := p.Complete(t.Context(), req)
		require.NoError(t, err)
		require.Equal(t, want, resp.Usage, "call %d: what it had used before is unknown", i)
		require.Len(t, resp.Warnings, 1)
		require.Contains(t, resp.Warnings[0], "could not be recorded")
		req.Session = resp.Session
	}
}

// filesBelow lists the files below a directory.
func filesBelow(t *testing.T, dir string) (files []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, path)
		}
		return err
	}))
	return files
}

func sameFile(t *testing.T, a, b string) bool {
	t.Helper()
	one, err := os.Stat(a)
	require.NoError(t, err)
	other, err := os.Stat(b)
	require.NoError(t, err)
	return os.SameFile(one, other)
}
