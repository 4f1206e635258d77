using System;
using System.IO;
using System.Net.Http;
using System.Net.Security;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;

namespace Groundwire.Evidence;

/// <summary>Connections that show a client certificate, and trust one authority alone.</summary>
public static class MutualTls
{
    /// <exception cref="UsageException">A file cannot be read, or holds no certificate or key.</exception>
    public static SocketsHttpHandler CreateHandler(Options options)
    {
        var trusted = new X509ChainPolicy
        {
            TrustMode = X509ChainTrustMode.CustomRootTrust,
            RevocationMode = X509RevocationMode.NoCheck,
        };
        Read(options.Ca, () => trusted.CustomTrustStore.ImportFromPemFile(options.Ca));
        var chain = new X509Certificate2Collection();
        Read(options.Cert, () => chain.ImportFromPemFile(options.Cert));
        X509Certificate2? identity = null;
        Read(options.Key, () => identity = X509Certificate2.CreateFromPemFile(options.Cert, options.Key));
        return new SocketsHttpHandler
        {
            SslOptions = new SslClientAuthenticationOptions
            {
                CertificateChainPolicy = trusted,
                ClientCertificateContext = SslStreamCertificateContext.Create(identity!, chain, offline: true),
            },
            // Calls at a time on one connection are limited by the server; more connections carry more.
            EnableMultipleHttp2Connections = true,
            KeepAlivePingDelay = TimeSpan.FromSeconds(30),
            KeepAlivePingTimeout = TimeSpan.FromSeconds(10),
            ConnectTimeout = TimeSpan.FromSeconds(5),
        };
    }

    private static void Read(string path, Action read)
    {
        try
        {
            read();
        }
        catch (Exception exception) when (exception is IOException or CryptographicException)
        {
            throw new UsageException($"{path}: {exception.Message}");
        }
    }
}
