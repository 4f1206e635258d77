using System;
using Groundwire.Client;
using Microsoft.Extensions.Logging;

namespace Groundwire.Evidence;

/// <summary>Writes what the client logs to stderr. A service has a logger anyway.</summary>
internal sealed class StandardError : ILogger<GroundwireClient>
{
    public IDisposable? BeginScope<TState>(TState state)
        where TState : notnull => null;

    public bool IsEnabled(LogLevel logLevel) => true;

    public void Log<TState>(
        LogLevel logLevel, EventId eventId, TState state, Exception? exception,
        Func<TState, Exception?, string> formatter) => Console.Error.WriteLine(formatter(state, exception));
}
