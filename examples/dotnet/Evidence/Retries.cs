using System;
using System.IO;
using System.Threading.Tasks;

namespace Groundwire.Evidence;

/// <summary>Makes calls whose attempts share one deadline, and waits between them as long as the server asks.</summary>
public sealed class Retries
{
    private const int MaxAttempts = 4;
    private static readonly TimeSpan FirstBackoff = TimeSpan.FromMilliseconds(200);
    private static readonly TimeSpan MaxBackoff = TimeSpan.FromSeconds(2);

    private readonly TimeSpan deadline;
    private readonly string? tokenFile;

    public Retries(TimeSpan deadline, string? tokenFile)
    {
        this.deadline = deadline;
        this.tokenFile = tokenFile;
    }

    public async Task<TAnswer> CallAsync<TQuestion, TAnswer>(
        Func<TQuestion, CallContext, Task<TAnswer>> method, TQuestion question)
    {
        var end = DateTime.UtcNow + deadline;
        for (var attempt = 1; ; attempt++)
        {
            try
            {
                return await method(question, new CallContext(end, ReadToken()));
            }
            catch (CallFailure failure) when (failure.MayBeTriedAgain && attempt < MaxAttempts)
            {
                var pause = Backoff(attempt);
                if (failure.Details.RetryAfter > pause)
                {
                    pause = failure.Details.RetryAfter.Value;
                }
                if (DateTime.UtcNow + pause >= end)
                {
                    throw;
                }
                Console.Error.WriteLine(
                    $"{failure.Method}: {failure.Status}, trying again in {pause.TotalSeconds:0.00} s");
                await Task.Delay(pause);
            }
        }
    }

    private string? ReadToken()
    {
        try
        {
            return tokenFile is null ? null : File.ReadAllText(tokenFile).Trim();
        }
        catch (IOException exception)
        {
            throw new UsageException($"--token-file: {exception.Message}");
        }
    }

    /// <summary>Doubles with each attempt, with a fifth of jitter so that callers do not come back together.</summary>
    private static TimeSpan Backoff(int attempt)
    {
        var pause = FirstBackoff * Math.Pow(2, attempt - 1);
        return (pause < MaxBackoff ? pause : MaxBackoff) * (0.8 + 0.4 * Random.Shared.NextDouble());
    }
}
