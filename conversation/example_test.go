package conversation_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/conversation"
	"github.com/clichain/clichain/live"
	"github.com/clichain/clichain/specs"
)

func chat(ctx context.Context, b clichain.Backend, texts ...string) (answers []string, err error) {
	c := conversation.New(b, nil)
	for _, text := range texts {
		resp, err := c.Send(ctx, text)
		if err != nil {
			return answers, err
		}
		if resp.HandedOver != "" {
			fmt.Printf("%s continues the conversation of %s\n", resp.Backend, resp.HandedOver)
		}
		answers = append(answers, resp.Text)
	}
	return answers, nil
}

func resume(path string, b clichain.Backend) (*conversation.Conversation, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return conversation.New(b, nil), nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	return conversation.Load(file, b, nil)
}

func turnHere(ctx context.Context, s *conversation.Store, b clichain.Backend, text string) (*clichain.Response, error) {
	entry, err := s.Lock(ctx, ".")
	if err != nil {
		return nil, err
	}
	defer entry.Unlock()
	c, err := entry.Load(b, nil)
	if errors.Is(err, fs.ErrNotExist) {
		c, err = conversation.New(b, nil), nil
	}
	if err != nil {
		return nil, err
	}
	resp, err := c.Send(ctx, text)
	return resp, errors.Join(err, entry.Save(c))
}

func interactive(ctx context.Context, c *conversation.Conversation, p *clichain.Provider, texts ...string) error {
	s := live.New(p, &live.Config{Request: c.Request()})
	defer s.Stop()
	if err := s.Start(ctx); err != nil {
		return err
	}
	for _, text := range texts {
		resp, err := s.Ask(ctx, text)
		if err := c.Add(ctx, text, resp, err); err != nil {
			return err
		}
	}
	return nil
}

func Example() {
	answers, err := chat(context.Background(), chain(newFake("claude", ok, limited), newFake("codex")), "Hi", "And now?")
	fmt.Println(answers, err)
	// Output:
	// codex continues the conversation of claude
	// [claude answers 1 codex answers 1] <nil>
}

func TestGuideResumes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "record.json")
	a := newFake("a")
	c, err := resume(path, a.backend())
	require.NoError(t, err)
	send(t, c, "one", "a")
	file, err := os.Create(path)
	require.NoError(t, err)
	require.NoError(t, c.Save(file))
	require.NoError(t, file.Close())
	c, err = resume(path, a.backend())
	require.NoError(t, err)
	send(t, c, "two", "a")
	require.Equal(t, "user: two", a.last())
}

func TestGuideTurnHere(t *testing.T) {
	s, err := conversation.OpenStore(t.TempDir(), 0)
	require.NoError(t, err)
	a := newFake("a")
	for _, text := range []string{"one", "two"} {
		_, err = turnHere(t.Context(), s, a.backend(), text)
		require.NoError(t, err)
	}
	require.Equal(t, "user: two", a.last())
}

// A conversation continues in a live session of another backend, and then in single calls.
func TestGuideIsInteractive(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	result := `{"type":"result","subtype":"success","is_error":false,"session_id":"0f8b7d3e-5f64-4f0e-9a53-0d6c1a1f2b3d","result":`
	binary, err := clitest.Install(t.TempDir(), "claude", clitest.Scenario{Steps: []clitest.Step{
		{ReadLine: true}, {Stdout: `{"type":"control_response","response":{"subtype":"success","request_id":"clichain-1","response":{}}}` + "\n"},
		{ReadLine: true}, {Stdout: result + `"live 1"}` + "\n"},
		{ReadLine: true}, {Stdout: result + `"live 2"}` + "\n"},
	}})
	require.NoError(t, err)
	a := newFake("a")
	c := conversation.New(a.backend(), nil)
	send(t, c, "one", "a")
	require.NoError(t, interactive(t.Context(), c, clichain.NewProvider(specs.Claude(), &clichain.Config{Binary: binary}), "two", "three"))
	require.Equal(t, "claude", c.Threads()[0].Backend)
	require.Equal(t, 6, c.Threads()[0].Messages)
	require.Equal(t, "b", send(t, load(t, saved(t, c), newFake("b").backend()), "four", "b").Backend)
	send(t, c, "four", "a")
	for _, text := range []string{"two", "live 1", "three", "live 2", "four"} {
		require.Contains(t, a.last(), "\n"+text+"\n")
	}
	require.NotContains(t, a.last(), "one")
}
