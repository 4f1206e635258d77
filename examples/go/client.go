package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"math/rand"
	"os"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"

	groundwirev1 "groundwire/v1"
)

const (
	maxAttempts  = 4
	firstBackoff = 200 * time.Millisecond
	maxBackoff   = 2 * time.Second
)

// client calls RetrievalService and QueryService: mutual TLS or plaintext, a deadline for each call, retries that wait
// as long as the server asks.
type client struct {
	connection *grpc.ClientConn
	retrieval  groundwirev1.RetrievalServiceClient
	queries    groundwirev1.QueryServiceClient
	deadline   time.Duration
	tokenFile  string
}

func connect(settings options) (*client, error) {
	// Dial and WithInsecure, because what replaces them is not in the versions that stable distributions package.
	security := grpc.WithInsecure()
	if settings.secured {
		mutual, err := mutualTLS(settings)
		if err != nil {
			return nil, err
		}
		security = grpc.WithTransportCredentials(mutual)
	}
	connection, err := grpc.Dial(settings.server, security)
	if err != nil {
		return nil, fmt.Errorf("-server: %w", err)
	}
	retrieval := groundwirev1.NewRetrievalServiceClient(connection)
	queries := groundwirev1.NewQueryServiceClient(connection)
	return &client{connection, retrieval, queries, settings.deadline, settings.tokenFile}, nil
}

func mutualTLS(settings options) (credentials.TransportCredentials, error) {
	identity, err := tls.LoadX509KeyPair(settings.cert, settings.key)
	if err != nil {
		return nil, fmt.Errorf("-cert, -key: %w", err)
	}
	authorities, err := os.ReadFile(settings.ca)
	if err != nil {
		return nil, fmt.Errorf("-ca: %w", err)
	}
	trusted := x509.NewCertPool()
	if !trusted.AppendCertsFromPEM(authorities) {
		return nil, fmt.Errorf("-ca: %s: holds no certificate", settings.ca)
	}
	return credentials.NewTLS(&tls.Config{Certificates: []tls.Certificate{identity}, RootCAs: trusted}), nil
}

func (client *client) close() {
	client.connection.Close()
}

// call makes a call; its attempts share one deadline. The error is a *callFailure, or that of reading the token.
func call[Request, Response any](
	ctx context.Context, client *client, method string,
	invoke func(context.Context, Request, ...grpc.CallOption) (Response, error), request Request,
) (Response, error) {
	end := time.Now().Add(client.deadline)
	ctx, cancel := context.WithDeadline(ctx, end)
	defer cancel()
	for attempt := 1; ; attempt++ {
		authorized, err := client.authorize(ctx)
		if err != nil {
			var none Response
			return none, err
		}
		response, err := invoke(authorized, request)
		if err == nil {
			return response, nil
		}
		failure := failureFrom(method, err)
		pause := backoff(attempt)
		if failure.retryAfter != nil && *failure.retryAfter > pause {
			pause = *failure.retryAfter
		}
		if !failure.mayBeTriedAgain() || attempt == maxAttempts || time.Until(end) <= pause {
			return response, failure
		}
		fmt.Fprintf(os.Stderr, "%s: %s, trying again in %.2f s\n", method, failure.Status, pause.Seconds())
		time.Sleep(pause)
	}
}

func (client *client) authorize(ctx context.Context) (context.Context, error) {
	if client.tokenFile == "" {
		return ctx, nil
	}
	token, err := os.ReadFile(client.tokenFile)
	if err != nil {
		return nil, fmt.Errorf("-token-file: %w", err)
	}
	return metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+strings.TrimSpace(string(token))), nil
}

// backoff is the pause after a failed attempt: doubling, with a fifth of jitter so that callers do not come back
// together.
func backoff(attempt int) time.Duration {
	pause := firstBackoff << (attempt - 1)
	if pause > maxBackoff {
		pause = maxBackoff
	}
	return time.Duration(float64(pause) * (0.8 + 0.4*rand.Float64()))
}
