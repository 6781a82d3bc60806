module github.com/clichain/clichain/conformance

go 1.26.0

require (
	github.com/openai/openai-go/v3 v3.96.0
	github.com/stretchr/testify v1.12.1
	github.com/tidwall/gjson v1.20.0
	golang.org/x/sys v0.49.0
)

require (
	github.com/cenkalti/backoff/v4 v4.3.0 // indirect
	github.com/coder/websocket v1.8.15 // indirect
	github.com/gofrs/flock v0.13.1 // indirect
	github.com/hashicorp/errwrap v1.0.0 // indirect
	github.com/hashicorp/go-multierror v1.1.1 // indirect
	github.com/tidwall/match v1.1.1 // indirect
	github.com/tidwall/pretty v1.2.1 // indirect
	github.com/tidwall/sjson v1.2.5 // indirect
	go.yaml.in/yaml/v4 v4.0.0 // indirect
)

require (
	github.com/clichain/clichain v0.0.0
	go.yaml.in/yaml/v3 v3.0.5 // indirect
)

replace github.com/clichain/clichain => ../
