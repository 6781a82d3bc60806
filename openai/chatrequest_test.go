package openai

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
)

func TestChatRequest(t *testing.T) {
	req, ignored, err := ParseChatRequest([]byte(`{"model":"m","messages":[{"role":"developer","content":"s"},{"role":"user","content":[{"type":"text","text":"hi"}]}],
		"temperature":0,"top_p":1,"max_tokens":5,"reasoning_effort":"low","response_format":{"type":"json_object"}}`))
	require.NoError(t, err)
	require.Equal(t, []string{"max_tokens", "temperature"}, ignored)
	want := clichain.Request{
		Messages: []clichain.Message{{Role: clichain.RoleSystem, Content: "s"}, {Role: clichain.RoleUser, Content: "hi"}},
		Model:    "m", Schema: []byte(`{"type":"object"}`), Options: clichain.Options{Effort: "low"},
	}
	require.Equal(t, want, req)
	for name, test := range map[string]struct{ body, want string }{
		"tools":   {`{"messages":[],"tools":[{"type":"function"}]}`, "tools: a CLI that is asked here"},
		"access":  {`{"messages":[],"access":"full"}`, "access: there is no such field here"},
		"image":   {`{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}}]}]}`, "images are read from"},
		"stop":    {`{"messages":[],"stop":"x"}`, "stop: the text ends early"},
		"no JSON": {`{`, "the body is no JSON object"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := ParseChatRequest([]byte(test.body))
			require.ErrorContains(t, err, test.want)
		})
	}
}
