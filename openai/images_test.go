package openai_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
)

// png is an image of one pixel.
const png = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

// TestImages checks that an image of the last message is a file during the call, and that the server removes it
// afterwards.
func TestImages(t *testing.T) {
	for path, body := range map[string]string{
		chat:      `{"messages":[{"role":"user","content":[{"type":"text","text":"what is it?"},{"type":"image_url","image_url":{"url":"` + png + `","detail":"auto"}}]}]}`,
		responses: `{"input":[{"role":"user","content":[{"type":"input_text","text":"what is it?"},{"type":"input_image","image_url":"` + png + `","detail":"auto"}]}]}`,
	} {
		t.Run(path, func(t *testing.T) {
			temp := t.TempDir()
			t.Setenv("TMPDIR", temp)
			t.Setenv("TMP", temp)
			backend := clichain.BackendFunc("one", func(_ context.Context, req clichain.Request) (*clichain.Response, error) {
				if len(req.Options.Images) != 1 || filepath.Ext(req.Options.Images[0]) != ".png" {
					return &clichain.Response{Text: "none"}, nil
				}
				data, err := os.ReadFile(req.Options.Images[0])
				return &clichain.Response{Text: string(data[1:4])}, err
			})
			a := post(t, serving(t, backend), path, body)
			require.Contains(t, a.body, `"PNG"`)
			left, err := os.ReadDir(temp)
			require.NoError(t, err)
			require.Empty(t, left)
		})
	}
}
