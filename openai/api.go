package openai

import (
	"strings"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/openai/internal/apierror"
	"github.com/clichain/clichain/openai/internal/request"
	"github.com/clichain/clichain/openai/internal/response"
)

// api is one of OpenAI's APIs for answers.
type api struct {
	parse   func(body []byte, policy *request.Policy) (*request.Request, *apierror.Error)
	body    func(*request.Request, *clichain.Response) any
	encoder func(*request.Request) response.Encoder
	params  map[string]string // request fields by the library's names of them
}

var chatAPI = &api{request.ParseChat, response.Chat, response.NewChatEncoder, map[string]string{
	"messages": "messages", "model": "model", "schema": "response_format",
	"options.effort": "reasoning_effort", "options.images": "messages",
}}

var responsesAPI = &api{request.ParseResponses, response.Responses, response.NewResponsesEncoder, map[string]string{
	"messages": "input", "model": "model", "schema": "text.format",
	"options.effort": "reasoning.effort", "options.images": "input",
}}

// param returns the request field of an option of a call.Error. An index such as "messages[1]" stays where both have
// the same name.
func (a *api) param(option string) (param string, ok bool) {
	head, _, _ := strings.Cut(option, "[")
	param, ok = a.params[head]
	if param == head {
		param = option
	}
	return param, ok
}
