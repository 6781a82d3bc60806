package accept_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/accept"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clitest/fake"
)

func TestMain(m *testing.M) { os.Exit(fake.Run(m)) }

func TestAs(t *testing.T) {
	type city struct {
		Name   string `json:"name"`
		People int    `json:"people"`
	}
	small := errors.New("too small")
	check := accept.As(func(_ context.Context, resp *call.Response, c city) error {
		require.Equal(t, "b", resp.Backend)
		if c.People < 1000 {
			return small
		}
		return nil
	})
	for name, test := range map[string]struct {
		text string
		is   error
		want string
	}{
		"accepted":      {`{"name": "Rome", "people": 2000}`, nil, ""},
		"refused":       {`{"name": "Rome", "people": 20}`, small, "too small"},
		"no JSON":       {`Rome`, nil, "the answer cannot be unmarshaled into accept_test.city: invalid character"},
		"another type":  {`{"name": 3}`, nil, "cannot be unmarshaled"},
		"another value": {`[]`, nil, "cannot be unmarshaled"},
	} {
		t.Run(name, func(t *testing.T) {
			resp := &call.Response{Text: test.text, Backend: "b"}
			err := check(t.Context(), call.Request{}, resp)
			if test.want == "" {
				require.NoError(t, err)
				require.NoError(t, accept.As[city](nil)(t.Context(), call.Request{}, resp))
				return
			}
			require.ErrorContains(t, err, test.want)
			require.Equal(t, test.is != nil, errors.Is(err, small))
			require.Equal(t, test.is == nil, accept.As[city](nil)(t.Context(), call.Request{}, resp) != nil)
		})
	}
}

func TestSplit(t *testing.T) {
	for line, want := range map[string][]string{
		"go test ./...":             {"go", "test", "./..."},
		" a\tb \n c ":               {"a", "b", "c"},
		`sh -c 'exit 1'`:            {"sh", "-c", "exit 1"},
		`a "b c"d 'e'"f" ''`:        {"a", "b cd", "ef", ""},
		`a\ b "c\"d" 'e\' \\ "\'"`:  {"a b", `c"d`, `e\`, `\`, `'`},
		`"C:\Program Files\x" C:\y`: {`C:\Program Files\x`, `C:\y`},
		`echo $HOME * ; | && #`:     {"echo", "$HOME", "*", ";", "|", "&&", "#"},
		`jq -e '.a == "é 中"'`:       {"jq", "-e", `.a == "é 中"`},
	} {
		got, err := accept.Split(line)
		require.NoError(t, err, line)
		require.Equal(t, want, got, line)
	}
	for line, want := range map[string]string{
		"": "is empty", "  ": "is empty", `a "b`: "has no end", `a 'b\'c'`: "has no end",
	} {
		_, err := accept.Split(line)
		require.ErrorContains(t, err, want, line)
	}
}

// command makes a check that is a fake program.
func command(t *testing.T, steps ...fake.Step) *accept.Command {
	t.Helper()
	c, err := accept.NewCommand(fake.New(t, "verify", fake.Scenario{Steps: steps}))
	require.NoError(t, err)
	return c
}

func TestCommand(t *testing.T) {
	three := "one\ntwo\nthree\nfour\n\n"
	exit := fake.Exit
	for name, test := range map[string]struct {
		steps []fake.Step
		want  string
	}{
		"exit code 0":              {[]fake.Step{{Stdout: "fine\n"}}, ""},
		"does not read the answer": {[]fake.Step{exit(0)}, ""},
		"no output":                {[]fake.Step{exit(1)}, "exited with 1"},
		"stderr before stdout":     {[]fake.Step{{Stdout: "out\n"}, {Stderr: "err\n"}, exit(2)}, "exited with 2: err"},
		"stdout":                   {[]fake.Step{{Stdout: "out\n"}, exit(3)}, "exited with 3: out"},
		"last lines":               {[]fake.Step{{Stderr: three}, exit(1)}, "exited with 1: two | three | four"},
	} {
		t.Run(name, func(t *testing.T) {
			err := command(t, test.steps...).Accept(t.Context(), call.Request{}, &call.Response{Text: "text"})
			if test.want == "" {
				require.NoError(t, err)
				return
			}
			require.Error(t, err)
			require.Regexp(t, test.want+"$", err.Error())
		})
	}
}

// The program gets the answer on stdin, and facts about it in the environment. It runs in the directory of the request.
func TestCommandInput(t *testing.T) {
	dir := t.TempDir()
	record := filepath.Join(t.TempDir(), "record")
	c := command(t, fake.Step{Record: record})
	resp := &call.Response{Text: "the answer\n", Backend: "b", Model: "m", Session: "b:1"}
	require.NoError(t, c.Accept(t.Context(), call.Request{Dir: dir, Access: call.AccessRead}, resp))
	got, err := fake.ReadRecord(record)
	require.NoError(t, err)
	require.Equal(t, "the answer\n", string(got.Stdin))
	real, err := filepath.EvalSymlinks(dir)
	require.NoError(t, err)
	require.Contains(t, []string{dir, real}, got.Dir)
	for _, want := range []string{
		"CLICHAIN_BACKEND=b", "CLICHAIN_MODEL=m", "CLICHAIN_SESSION=b:1", "CLICHAIN_DIR=" + dir, "CLICHAIN_ACCESS=read",
		"PATH=" + os.Getenv("PATH"),
	} {
		require.Contains(t, got.Env, want)
	}
}

// A program that hangs, and its descendants, end with the context, whose cause is the error.
func TestCommandEndsWithContext(t *testing.T) {
	fake.NoLeaks(t)
	hang := fake.Step{Hang: true}
	c := command(t, fake.Step{Spawn: &fake.Spawn{Setsid: true, Steps: []fake.Step{hang}}}, hang)
	late := errors.New("late")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 200*time.Millisecond, late)
	defer cancel()
	err := c.Accept(ctx, call.Request{}, &call.Response{Text: "x"})
	require.ErrorIs(t, err, late)
}

func TestCommandNotFound(t *testing.T) {
	for _, program := range []string{"no-such-program", "./no-such-program", filepath.Join(t.TempDir(), "x")} {
		_, err := accept.NewCommand(program)
		require.Error(t, err, program)
		require.ErrorContains(t, err, "accept: ")
	}
	c := command(t)
	err := c.Accept(t.Context(), call.Request{Dir: filepath.Join(t.TempDir(), "gone")}, &call.Response{Text: "x"})
	require.ErrorContains(t, err, "did not start")
}
