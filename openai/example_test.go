package openai_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/openai"
)

// A client sends a chat completion to the handler. In a real program the backend is a chain of CLIs, created with
// clichain.ChainOf.
func Example() {
	backend := clichain.BackendFunc("echo", func(_ context.Context, req clichain.Request) (*clichain.Response, error) {
		return &clichain.Response{Text: "You said: " + req.Messages[0].Content, Backend: "echo"}, nil
	})
	server := httptest.NewServer(openai.NewHandler(backend, &openai.Config{Token: "secret"}))
	defer server.Close()

	body := []byte(`{"messages": [{"role": "user", "content": "hello"}]}`)
	req, err := http.NewRequest(http.MethodPost, server.URL+"/v1/chat/completions", bytes.NewReader(body))
	if err != nil {
		log.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer secret")
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		log.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		log.Fatal(err)
	}
	var completion struct {
		Choices []struct {
			Message struct{ Content string }
		}
	}
	if err := json.Unmarshal(data, &completion); err != nil {
		log.Fatal(err)
	}
	fmt.Println(completion.Choices[0].Message.Content)
	// Output: You said: hello
}
