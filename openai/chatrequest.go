package openai

import (
	"errors"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/openai/internal/apierror"
	"github.com/clichain/clichain/openai/internal/request"
)

// IgnorableFields returns the names that [Config.IgnoredFields] can have, in alphabetical order.
func IgnorableFields() []string { return request.Ignorable() }

// ParseChatRequest reads the body of a chat completion that did not come over HTTP, such as one of a batch file. It
// refuses what the handler refuses, and images. The fields of [IgnorableFields] have no effect; ignored lists those
// that have another value than their default, in alphabetical order.
func ParseChatRequest(body []byte) (req clichain.Request, ignored []string, err error) {
	r, failed := request.ParseChat(body, request.Ignored{Fields: request.Ignorable()})
	if failed == nil && len(r.Images) > 0 {
		failed = apierror.Field("messages", "unsupported_value", "images are read from requests over HTTP alone")
	}
	if failed != nil {
		return clichain.Request{}, nil, errors.New(failed.Message)
	}
	ignored, err = request.IgnoredInChat(body)
	return r.Request, ignored, err
}
