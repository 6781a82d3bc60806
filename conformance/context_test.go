package conformance_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
)

// Every line of claude that the event rules read must name the context, and the result of "/clear" must have a new
// name. The rules of the live mode rely on both.
func TestClaudeNamesItsContext(t *testing.T) {
	for i, install := range home.Installs() {
		if install.CLI != home.Claude {
			continue
		}
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			binary := install.Binary(t)
			server := loopback.New(t, loopback.Always(loopback.Text(hello)))
			h := home.New(t, home.Claude, server.URL, home.LoggedIn)
			command := exec.Command(binary, "-p", "--verbose", "--output-format", "stream-json", "--input-format", "stream-json",
				"--include-partial-messages", "--tools", "", "--system-prompt", "be brief")
			command.Env, command.Dir, command.Stderr = append(os.Environ(), h.Env...), h.Work, os.Stderr
			in, err := command.StdinPipe()
			require.NoError(t, err)
			out, err := command.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, command.Start())
			t.Cleanup(func() { _ = command.Process.Kill(); _ = command.Wait() })
			lines := bufio.NewScanner(out)
			lines.Buffer(nil, 64<<20)
			turn := func(text string) (ids []string) {
				_, err := fmt.Fprintf(in, `{"type":"user","message":{"role":"user","content":%q}}`+"\n", text)
				require.NoError(t, err)
				for lines.Scan() {
					var line struct {
						Type string `json:"type"`
						ID   string `json:"session_id"`
					}
					require.NoError(t, json.Unmarshal(lines.Bytes(), &line))
					require.NotEmpty(t, line.ID, "%.300s", lines.Text())
					if len(ids) == 0 || ids[len(ids)-1] != line.ID {
						ids = append(ids, line.ID)
					}
					if line.Type == "result" {
						return ids
					}
				}
				t.Fatal("claude ended: ", lines.Err())
				return nil
			}
			first, clear, second := turn("hi"), turn("/clear"), turn("hi")
			require.Len(t, first, 1)
			require.Len(t, second, 1)
			require.NotEqual(t, first, second)
			require.Equal(t, second[0], clear[len(clear)-1], "the result of /clear has the new ID")
		})
	}
}
