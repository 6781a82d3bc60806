package otel

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/semconv/v1.41.0/genaiconv"
)

func TestNamesMatchConventions(t *testing.T) {
	require.Equal(t, semconv.SchemaURL, schemaURL)
	for _, pair := range [][2]attribute.Key{
		{semconv.GenAIOperationNameKey, keyOperation},
		{semconv.GenAIWorkflowNameKey, keyWorkflow},
		{semconv.GenAIAgentNameKey, keyAgent},
		{semconv.GenAIProviderNameKey, keyProvider},
		{semconv.GenAIRequestModelKey, keyRequestModel},
		{semconv.GenAIResponseModelKey, keyResponseModel},
		{semconv.GenAIConversationIDKey, keyConversation},
		{semconv.GenAIUsageInputTokensKey, keyInputTokens},
		{semconv.GenAIUsageOutputTokensKey, keyOutputTokens},
		{semconv.GenAIUsageCacheReadInputTokensKey, keyCacheRead},
		{semconv.GenAIUsageCacheCreationInputTokensKey, keyCacheCreation},
		{semconv.GenAIUsageReasoningOutputTokensKey, keyReasoningTokens},
		{semconv.GenAITokenTypeKey, keyTokenType},
		{semconv.GenAIInputMessagesKey, keyInputMessages},
		{semconv.GenAIOutputMessagesKey, keyOutputMessages},
		{semconv.ErrorTypeKey, keyError},
	} {
		require.Equal(t, pair[0], pair[1])
	}
	for _, pair := range [][2]attribute.KeyValue{
		{semconv.GenAIOperationNameInvokeWorkflow, keyOperation.String(operationCall)},
		{semconv.GenAIOperationNameInvokeAgent, keyOperation.String(operationAttempt)},
		{semconv.GenAITokenTypeInput, keyTokenType.String(tokensIn)},
		{semconv.GenAITokenTypeOutput, keyTokenType.String(tokensOut)},
		{semconv.GenAIProviderNameAnthropic, keyProvider.String(providerName("anthropic-cli"))},
		{semconv.GenAIProviderNameOpenAI, keyProvider.String(providerName("openai-cli"))},
		{semconv.GenAIProviderNameGCPGenAI, keyProvider.String(providerName("google-cli"))},
		{semconv.GenAIProviderNameXAI, keyProvider.String(providerName("xai-cli"))},
		{semconv.GenAIProviderNameMistralAI, keyProvider.String(providerName("mistral-cli"))},
		{semconv.ErrorTypeOther, keyError.String(errorOther)},
	} {
		require.Equal(t, pair[0], pair[1])
	}
	require.Equal(t, genaiconv.ClientOperationDuration{}.Name(), metricDuration)
	require.Equal(t, genaiconv.ClientOperationTimeToFirstChunk{}.Name(), metricFirstText)
	require.Equal(t, genaiconv.ClientTokenUsage{}.Name(), metricTokens)
	require.Equal(t, "s", genaiconv.ClientOperationDuration{}.Unit())
	require.Equal(t, "{token}", genaiconv.ClientTokenUsage{}.Unit())
}
