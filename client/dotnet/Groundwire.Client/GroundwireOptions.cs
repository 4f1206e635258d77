using System;
using System.Threading;
using System.Threading.Tasks;
using Groundwire.V1;

namespace Groundwire.Client;

/// <summary>
/// Where a <see cref="GroundwireClient"/> calls, as whom, and the defaults of its calls. All but the access and the
/// token can be bound from configuration.
/// </summary>
public sealed class GroundwireOptions
{
    /// <summary>The server, such as <c>https://groundwire:8443</c>. Required.</summary>
    public Uri? Address { get; set; }

    /// <summary>The repository that is asked. Required, unless each call names a scope.</summary>
    public string Repository { get; set; } = "";

    /// <summary>The branch that is asked. Required, unless each call names a scope.</summary>
    public string Branch { get; set; } = "";

    /// <summary>The most tokens of all texts of an answer together, in the unit of <c>o200k_base</c>.</summary>
    public int BudgetTokens { get; set; } = 4_000;

    /// <summary>How long a call may take, its retries included. Positive; 10 seconds unless set.</summary>
    public TimeSpan Timeout { get; set; } = TimeSpan.FromSeconds(10);

    /// <summary>
    /// What calls may see that do not say. Null leaves it to the token or certificate; a server that asks for neither
    /// then shows public nodes only.
    /// </summary>
    public AccessContext? Access { get; set; }

    /// <summary>
    /// Gives the bearer token, without <c>Bearer</c>, for each attempt of a call; keep a token until it is about to
    /// expire. Null sends none.
    /// </summary>
    public Func<CancellationToken, ValueTask<string>>? TokenProvider { get; set; }

    /// <summary>
    /// Lets a token travel in plaintext to other machines, because a mesh encrypts the connection. False unless set.
    /// </summary>
    public bool AllowPlaintextToken { get; set; }

    /// <summary>Checks the rules that are stated at each property.</summary>
    /// <exception cref="ArgumentException">A rule is broken; the message names the property and what to do.</exception>
    public void Validate()
    {
        if (Address is not { IsAbsoluteUri: true, Scheme: "http" or "https" })
        {
            throw new ArgumentException($"Address: '{Address}' must be http://HOST:PORT or https://HOST:PORT");
        }
        if (BudgetTokens < 1)
        {
            throw new ArgumentException($"BudgetTokens: {BudgetTokens} must be at least 1");
        }
        if (Timeout <= TimeSpan.Zero)
        {
            throw new ArgumentException($"Timeout: {Timeout} must be positive");
        }
        if (TokenProvider is not null && Address.Scheme == "http" && !Address.IsLoopback && !AllowPlaintextToken)
        {
            throw new ArgumentException(
                $"TokenProvider: the token would travel in plaintext to {Address.Host}: use https, or set "
                + "AllowPlaintextToken if a mesh encrypts the connection");
        }
    }
}
