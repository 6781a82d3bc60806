package openai

import (
	"errors"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/openai/internal/apierror"
	"github.com/clichain/clichain/openai/internal/request"
)

// ParseChatRequest reads the body of a chat completion that did not come over HTTP, such as one of a batch file. It
// refuses what the handler refuses, images, and stop. The fields in ignored have no effect, as with the handler; they
// are in alphabetical order.
func ParseChatRequest(body []byte) (req clichain.Request, ignored []string, err error) {
	var policy request.Policy
	r, failed := request.ParseChat(body, &policy)
	switch {
	case failed != nil:
	case len(r.Images) > 0:
		failed = apierror.Field("messages", "unsupported_value", "images are read from requests over HTTP alone")
	case len(r.Stop) > 0:
		failed = apierror.Field("stop", "unsupported_parameter", "the text ends early in answers over HTTP alone")
	}
	if failed != nil {
		return clichain.Request{}, nil, errors.New(failed.Message)
	}
	return r.Request, policy.Ignored(), nil
}
