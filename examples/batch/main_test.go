package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/examples/internal/machine"
	"github.com/clichain/clichain/specs"
)

// TestMain lets the test binary play the fake CLIs.
func TestMain(m *testing.M) { os.Exit(clitest.Run(m)) }

// sorted runs the pipeline and returns its output lines.
func sorted(t *testing.T, b clichain.Backend, parallel int, in string) (results []result, err error) {
	t.Helper()
	var out bytes.Buffer
	err = sortAll(t.Context(), b, parallel, strings.NewReader(in), &out)
	for line := range strings.Lines(out.String()) {
		var r result
		require.NoError(t, json.Unmarshal([]byte(line), &r))
		results = append(results, r)
	}
	return results, err
}

func TestSortWithCLI(t *testing.T) {
	answer := clitest.Answer(specs.Claude(), `{"topic": "invoice", "urgent": true, "summary": "It is wrong."}`)
	defer machine.New(map[string]clitest.Scenario{"claude": answer})()
	var in strings.Builder
	for i := range 6 {
		fmt.Fprintf(&in, `{"id": "%d", "text": "The invoice is wrong."}`+"\n", i)
	}
	results, err := sorted(t, clichain.NewChain(specs.All(), nil), 3, in.String())
	require.NoError(t, err)
	require.Len(t, results, 6)
	for i, r := range results {
		require.Equal(t, fmt.Sprint(i), r.ID, "results are in the order of the input")
		require.Equal(t, kind{"invoice", true, "It is wrong."}, *r.Kind)
		require.Equal(t, "claude", r.Backend)
	}
}

// complete is a backend that waits for the duration in the request.
func complete(_ context.Context, req clichain.Request) (*clichain.Response, error) {
	_, text, _ := strings.Cut(req.Messages[0].Content, "\n\n")
	wait, err := time.ParseDuration(text)
	if err != nil {
		return nil, clichain.ErrRateLimited
	}
	time.Sleep(wait)
	return &clichain.Response{Text: fmt.Sprintf(`{"topic": %q, "urgent": false, "summary": ""}`, text)}, nil
}

func chain() *clichain.Chain {
	fake := clichain.BackendFunc("fake", complete)
	return clichain.ChainOf([]clichain.Backend{fake}, &clichain.ChainConfig{NoCooldown: true})
}

// The results are in the order of the input, whichever answer comes first, and the number of concurrent calls is
// limited. On the fake clock the calls would take 11 h with four at once, and 18 h with two.
func TestSortKeepsOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var in strings.Builder
		want := []string{"9h0m0s", "1h0m0s", "5h0m0s", "8h0m0s", "2h0m0s", "1h0m1s"}
		for _, text := range want {
			fmt.Fprintf(&in, `{"id": %q, "text": %q}`+"\n", text, text)
		}
		began := time.Now()
		results, err := sorted(t, chain(), 3, in.String())
		require.NoError(t, err)
		var got []string
		for _, r := range results {
			got = append(got, r.Kind.Topic)
		}
		require.Equal(t, want, got)
		require.Equal(t, 17*time.Hour, time.Since(began), "the next calls start after the first answer")
	})
}

// A message that could not be sorted has a reason, and later messages are sorted.
func TestFailures(t *testing.T) {
	results, err := sorted(t, chain(), 1, `{"id": "a", "text": "fail"}`+"\n"+`{"id": "b", "text": "0s"}`)
	require.ErrorIs(t, err, errSome)
	require.Len(t, results, 2)
	require.Equal(t, clichain.ReasonRateLimited, results[0].Reason)
	require.Equal(t, "0s", results[1].Kind.Topic)
	results, err = sorted(t, chain(), 2, `{"id": "a", "text": "0s"}`+"\n{")
	require.ErrorContains(t, err, "line 2: ")
	require.Len(t, results, 1, "earlier messages are sorted")
}

var errFull = errors.New("no space left")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

// The pipeline ends when its output fails and when its context ends, even if its input continues.
func TestEnds(t *testing.T) {
	clitest.NoLeaks(t)
	in, more := io.Pipe()
	defer more.Close()
	go func() { _, _ = io.WriteString(more, `{"id": "a", "text": "0s"}`+"\n") }()
	require.ErrorIs(t, sortAll(t.Context(), chain(), 2, in, full{}), errFull)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, sortAll(ctx, chain(), 2, in, io.Discard), context.Canceled)
}
