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
	"github.com/clichain/clichain/conversation"
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
